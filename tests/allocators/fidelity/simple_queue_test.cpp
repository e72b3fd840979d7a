// These tests count the words that a request or a free of SimpleQueue accesses: a count, two tickets, and a slot for
// each page.
#include "allocators/simple_queue/simple_queue.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

// A request subtracts from the count, adds to the head, and exchanges the slot.
constexpr Ops served{.updates = 3};
// A free adds to the count and to the tail, and fills the slot by a compare-exchange.
constexpr Ops put_back{.updates = 2, .compare_exchanges = 1};

TEST(SimpleQueueFidelity, OneLane) {
  FidelityRig<SimpleQueue> rig(64 * 256);
  const Calls mallocs = rig.counted_malloc({256});
  EXPECT_EQ(mallocs.of_lane[0], served);
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], put_back);
}

TEST(SimpleQueueFidelity, EveryLaneOfAWarpDrawsItsOwnTicket) {
  FidelityRig<SimpleQueue> rig(64 * 256);
  const Calls mallocs = rig.warp_mallocs(256);
  for (const Ops& ops : mallocs.of_lane) EXPECT_EQ(ops, served);
  for (const Ops& ops : rig.counted_free(mallocs.blocks).of_lane) EXPECT_EQ(ops, put_back);
}

// A request subtracts from the count and adds again.
TEST(SimpleQueueFidelity, AnEmptyQueue) {
  FidelityRig<SimpleQueue> rig(32 * 256);
  rig.warp_mallocs(256);
  for (const Ops& ops : rig.warp_mallocs(256).of_lane) EXPECT_EQ(ops, (Ops{.updates = 2}));
}

}  // namespace
}  // namespace allocbench
