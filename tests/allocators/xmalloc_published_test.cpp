// These tests of XMalloc as published cover FIFOs, Memoryblocks and mixed warps, then seeded schedules on heaps of a
// few Superblocks.
#include <gtest/gtest.h>

#include "allocators/xmalloc/xmalloc.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/allocators/shared_cases.hpp"
#include "tests/allocators/xmalloc_cases.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::count_served;
using testing::Rig;

TEST(XMallocExchangeFifo, PassesEveryAdmittedValueOnExactlyOnce) {
  testing::expect_fifo_passes_every_admitted_value_once<xmalloc::ExchangeFifo, xmalloc::ExchangeFifo::Ends,
                                                        std::uint64_t, std::uint32_t>();
}

TEST(XMallocPublished, SplitsAndMergesMemoryblocksOfOneList) {
  XMalloc::Parameters parameters;
  parameters.superblocks = false;
  Rig<XMalloc> rig(64 * 1024, parameters, 1, 1);
  testing::expect_memoryblocks_split_and_merge(rig);
}

template <class A>
class XMallocPublishedTest : public ::testing::Test {};
using Forms = ::testing::Types<XMalloc, XMallocDeviceHeap>;
TYPED_TEST_SUITE(XMallocPublishedTest, Forms);

TYPED_TEST(XMallocPublishedTest, ServesAMixedWarp) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(50); ++seed) {
    Rig<TypeParam> rig(4 << 20, {}, seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::expect_mixed_warp_served(rig);
  }
}

// The largest Basicblock has no room for 32 pieces of 16 + 240 bytes and the count of the parent.
TYPED_TEST(XMallocPublishedTest, SendsAWarpWhoseSumIsTooLargeToTheHeap) {
  Rig<TypeParam> rig(16 << 20, {}, 1, 4, simt::StrategyKind::lockstep);
  for (const std::uint64_t bytes : {208, 240, 255}) {
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, bytes));
    ASSERT_EQ(count_served(blocks), 32u);
    auto* const parent = static_cast<std::byte*>(blocks[0]) - 32;
    EXPECT_EQ(xmalloc::Tag{xmalloc::Tag::before(parent)}.type(),
              bytes == 208 ? xmalloc::Tag::basic : xmalloc::Tag::whole);
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TYPED_TEST(XMallocPublishedTest, ServesAsMuchAgainOfTheSameSize) {
  for (const bool coalescing : {true, false}) {
    auto parameters = small_heap<TypeParam>().parameters;
    parameters.coalescing = coalescing;
    Rig<TypeParam> rig(32 << 10, parameters);
    const auto fill = [&] {
      std::vector<void*> all;
      for (std::vector<void*> blocks = rig.malloc({100}); blocks[0] != nullptr; blocks = rig.malloc({100})) {
        all.push_back(blocks[0]);
      }
      return all;
    };
    std::vector<void*> blocks = fill();
    ASSERT_GT(blocks.size(), 50u);
    for (int round = 0; round < 3; ++round) {
      const std::size_t before = blocks.size();
      rig.free(blocks);
      EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
      blocks = fill();
      EXPECT_EQ(blocks.size(), before);
    }
  }
}

template <class A>
void churn_on_tiny_heaps(typename A::Parameters parameters, std::uint64_t usual_seeds) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(usual_seeds); ++seed) {
    Rig<A> rig(seed % 2 == 0 ? 6 << 10 : 16 << 10, parameters, seed, 4, simt::StrategyKind::swarm);
    testing::churn_on_tiny_heap(rig, seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(XMallocPublishedTest, SurvivesSeededSchedulesOnTinyHeaps) {
  churn_on_tiny_heaps<TypeParam>(small_heap<TypeParam>().parameters, 40);
}
TYPED_TEST(XMallocPublishedTest, SurvivesSeededSchedulesWithoutCoalescing) {
  auto parameters = small_heap<TypeParam>().parameters;
  parameters.coalescing = false;
  churn_on_tiny_heaps<TypeParam>(parameters, 40);
}
TYPED_TEST(XMallocPublishedTest, SurvivesSeededSchedulesWithoutSuperblocks) {
  auto parameters = small_heap<TypeParam>().parameters;
  parameters.superblocks = false;
  churn_on_tiny_heaps<TypeParam>(parameters, 40);
}

}  // namespace
}  // namespace allocbench
