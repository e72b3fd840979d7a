// SimpleQueue: the words that each request and each free touches.
#include "allocators/simple_queue/simple_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

// count: look 1, take 1; ticket at the head 1; slot: 1 exchange takes the page.
constexpr Ops served_malloc{.loads = 1, .updates = 3};

TEST(SimpleQueueFidelity, OneLane) {
  FidelityRig<SimpleQueue> rig(64 * 256);
  const Calls mallocs = rig.counted_malloc({256});
  EXPECT_EQ(mallocs.of_lane[0], served_malloc);
}

}  // namespace
}  // namespace allocbench
