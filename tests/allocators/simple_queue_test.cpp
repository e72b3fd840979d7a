// These tests of SimpleQueue check the order of pages, exact exhaustion and laps of the ring, then use seeded stress.
#include "allocators/simple_queue/simple_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocators/simple_queue/simple_queue_reworked.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/fidelity/rig.hpp"
#include "tests/allocators/stress.hpp"

namespace allocbench {
namespace {

using simple_queue::QueueParameters;
using testing::Rig;

template <class A>
class SimpleQueueTest : public ::testing::Test {};
using Queues = ::testing::Types<SimpleQueue, SimpleQueueReworked>;
TYPED_TEST_SUITE(SimpleQueueTest, Queues);

TYPED_TEST(SimpleQueueTest, ServesPagesInTheOrderOfFrees) {
  Rig<TypeParam> rig(5 * 16, {.page_bytes = 16});
  std::vector<void*> blocks;
  for (std::ptrdiff_t page = 0; page < 5; ++page) {
    blocks.push_back(rig.malloc({16})[0]);
    EXPECT_EQ(rig.offset(blocks.back()), page * 16);
  }
  EXPECT_EQ(rig.malloc({16})[0], nullptr);
  for (const int page : {3, 0, 4}) rig.free({blocks[page]});
  for (const std::ptrdiff_t page : {3, 0, 4}) EXPECT_EQ(rig.offset(rig.malloc({16})[0]), page * 16);
  EXPECT_EQ(rig.malloc({16})[0], nullptr);
  EXPECT_EQ(rig.malloc({17})[0], nullptr);
}

TYPED_TEST(SimpleQueueTest, ServesExactlyItsPagesLapAfterLap) {
  for (const std::uint32_t pages : {1u, 7u, 64u, 100u}) {
    SCOPED_TRACE(pages);
    Rig<TypeParam> rig(pages * 16, {.page_bytes = 16});
    for (int lap = 0; lap < 6; ++lap) {
      const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(pages + 20, 16));
      std::set<void*> distinct(blocks.begin(), blocks.end());
      distinct.erase(nullptr);
      ASSERT_EQ(distinct.size(), pages);
      ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
      rig.free(blocks);
      ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    }
    rig.allocator.reset(rig.stream());
    ASSERT_EQ(rig.offset(rig.malloc({16})[0]), 0);
  }
}

// All requests use the same count, head and tail. So the number of operations of a lone lane on these words limits the
// rate.
TYPED_TEST(SimpleQueueTest, LetsALoneLaneUseEachWordOnce) {
  testing::FidelityRig<TypeParam> rig(64 * 256);
  const testing::Calls mallocs = rig.counted_malloc({256});
  EXPECT_EQ(mallocs.of_lane[0], (testing::Ops{.updates = 3}));  // the third update is that of the slot
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], (testing::Ops{.updates = 2, .compare_exchanges = 1}));
}

TYPED_TEST(SimpleQueueTest, SurvivesSeededChurn) {
  const std::uint64_t last = testing::seeds(120);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const std::size_t pages = 1 + seed * 7 % 40;
    Rig<TypeParam> rig(pages * 16, {.page_bytes = 16}, seed);
    ASSERT_EQ(testing::churn(rig.allocator, rig.stream(), seed, {}).broken, 0u);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(pages, 16));
    ASSERT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
  }
}

}  // namespace
}  // namespace allocbench
