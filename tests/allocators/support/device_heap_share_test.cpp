// These tests check large blocks of Halloc and Ouroboros, which come from the device heap. The blocks return to the
// device heap one by one when they are freed, or all together at a reset.
#include "allocators/support/common/device_heap_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/halloc/halloc_reworked.hpp"
#include "allocators/ouroboros/ouroboros_c_reworked.hpp"
#include "allocators/ouroboros/ouroboros_p_reworked.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

using testing::Rig;

template <class A>
typename A::Parameters half_device_heap() {
  typename A::Parameters parameters;
  if constexpr (requires { parameters.slab_share; }) {
    parameters.slab_bytes = 512;
    parameters.slab_share = 0.5;
  } else {
    parameters.chunk_bytes = 1024;
    parameters.device_heap_share = 0.5;
  }
  return parameters;
}

template <class A>
class DeviceHeapShareTest : public ::testing::Test {};
using Designs = ::testing::Types<HallocReworked, OuroborosPSReworked, OuroborosCVLReworked>;
TYPED_TEST_SUITE(DeviceHeapShareTest, Designs);

TYPED_TEST(DeviceHeapShareTest, ResetFreesLargeBlocks) {
  Rig<TypeParam> rig(128 * 1024, half_device_heap<TypeParam>());
  const std::vector<std::uint64_t> requests(64, 4000);
  const auto refused = [](const std::vector<void*>& blocks) {
    return std::count(blocks.begin(), blocks.end(), nullptr);
  };
  const std::vector<void*> first = rig.malloc(requests);
  EXPECT_LT(refused(first), 64);
  EXPECT_GT(refused(first), 0);
  EXPECT_EQ(rig.malloc({4000})[0], nullptr);
  for (int round = 0; round < 3; ++round) {
    rig.allocator.reset(rig.stream());
    EXPECT_EQ(refused(rig.malloc(requests)), refused(first));
  }
  // Blocks that are freed before the reset are not freed again.
  rig.allocator.reset(rig.stream());
  const std::vector<void*> blocks = rig.malloc({4000, 5000, 6000});
  rig.free({blocks[1]});
  rig.allocator.reset(rig.stream());
  EXPECT_EQ(refused(rig.malloc(requests)), refused(first));
}

TYPED_TEST(DeviceHeapShareTest, FreedLargeBlocksCanBeHadAgain) {
  Rig<TypeParam> rig(128 * 1024, half_device_heap<TypeParam>());
  const std::vector<std::uint64_t> requests(40, 4000);
  const std::vector<void*> first = rig.malloc(requests);
  rig.free(first);
  const std::vector<void*> again = rig.malloc(requests);
  EXPECT_EQ(std::count(again.begin(), again.end(), nullptr), std::count(first.begin(), first.end(), nullptr));
}

}  // namespace
}  // namespace allocbench
