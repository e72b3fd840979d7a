// These tests check that AtomicMalloc and AWMalloc make one addition per request, and count the operations of a wrap of
// AWMalloc.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr Ops added{.updates = 1};

template <class A>
class BumpFidelity : public ::testing::Test {};
using Bumps = ::testing::Types<AtomicMalloc, AWMalloc>;
TYPED_TEST_SUITE(BumpFidelity, Bumps);

TYPED_TEST(BumpFidelity, OneLane) {
  FidelityRig<TypeParam> rig(64 * 256);
  EXPECT_EQ(rig.counted_malloc({256}).of_lane[0], added);
}

TYPED_TEST(BumpFidelity, EveryLaneOfAWarpAddsForItself) {
  FidelityRig<TypeParam> rig(64 * 256);
  for (const Ops& ops : rig.warp_mallocs(256).of_lane) EXPECT_EQ(ops, added);
}

// In algorithm 1, a request that fails keeps its addition and gets null.
TEST(AtomicMallocFidelity, AFullPool) {
  FidelityRig<AtomicMalloc> rig(32 * 256);
  rig.warp_mallocs(256);
  const Calls calls = rig.warp_mallocs(256);
  for (const Ops& ops : calls.of_lane) EXPECT_EQ(ops, added);
  for (const void* block : calls.blocks) EXPECT_EQ(block, nullptr);
}

// In algorithm 2, a compare-exchange sets the pointer back.
TEST(AWMallocFidelity, OneLaneWraps) {
  FidelityRig<AWMalloc> rig(32 * 256);
  rig.warp_mallocs(256);
  EXPECT_EQ(rig.counted_malloc({256}).of_lane[0], (Ops{.updates = 1, .compare_exchanges = 1}));
}

// All lanes add, one of them wraps, and the other 31 see the wrap and add once more.
TEST(AWMallocFidelity, OfAWarpThatWrapsOneLaneSetsThePointerBack) {
  FidelityRig<AWMalloc> rig(32 * 256);
  rig.warp_mallocs(256);
  const Calls calls = rig.warp_mallocs(256);
  const Ops sum = calls.sum();
  EXPECT_EQ(sum.updates, 32u + 31u);
  EXPECT_EQ(sum.compare_exchanges - sum.lost, 1u);
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 0);
  const auto adds_once = [](const Ops& ops) { return ops.updates == 1; };
  EXPECT_EQ(std::count_if(calls.of_lane.begin(), calls.of_lane.end(), adds_once), 1);
}

}  // namespace
}  // namespace allocbench
