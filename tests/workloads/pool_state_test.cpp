// The workloads that look at the pool itself: fill and fragmentation.
#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "tests/workloads/sampling.hpp"
#include "workloads/fill.hpp"
#include "workloads/fragmentation.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;
using Slots = SlotMalloc<Fault::none>;

TEST(Fill, TakesItsShareBeforeTheTimedRequests) {
  Fill::Parameters parameters;
  parameters.threads = 100;
  parameters.taken_share = 0.5;
  const test::Sampled result = test::sampled<Fill, Slots>(parameters, 64 << 10);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.blocks, 512u + 100u) << "half of 1,024 slots of 64 bytes, then one per thread";
  EXPECT_EQ(result.nulls, 0u);
  EXPECT_EQ(result.operations("alloc"), 100u);
}

TEST(Fill, AnOverfullPoolReturnsNull) {
  Fill::Parameters parameters;
  parameters.threads = 100;
  parameters.taken_share = 1;
  EXPECT_EQ((test::sampled<Fill, Slots>(parameters, 64 << 10).nulls), 100u);
}

TEST(Fill, AnEmptyPoolIsAllowed) {
  Fill::Parameters parameters;
  parameters.threads = 10;
  parameters.taken_share = 0;
  EXPECT_EQ((test::sampled<Fill, Slots>(parameters, 64 << 10).blocks), 10u);
}

// Slots of 64 bytes, all of which can be had.
TEST(Fragmentation, SlotsWasteWhatTheRequestLeaves) {
  Fragmentation::Parameters parameters;
  parameters.threads = 100;
  parameters.request_bytes = 48;
  const test::Sampled result = test::sampled<Fragmentation, Slots>(parameters, 64 << 10);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.counter("block_bytes"), 64);
  EXPECT_EQ(result.counter("served_bytes"), 1024 * 48);
  EXPECT_DOUBLE_EQ(result.counter("internal_waste"), 0.25);
  EXPECT_DOUBLE_EQ(result.counter("external_waste"), 0);
  EXPECT_EQ(result.operations("free"), 1024u);
}

TEST(Fragmentation, ABumpPointerWastesOnlyItsRounding) {
  Fragmentation::Parameters parameters;
  parameters.threads = 64;
  parameters.request_bytes = 24;
  const test::Sampled result = test::sampled<Fragmentation, AtomicMalloc>(parameters, 32 << 10);
  EXPECT_EQ(result.counter("block_bytes"), 32);
  EXPECT_DOUBLE_EQ(result.counter("internal_waste"), 0.25);
  EXPECT_DOUBLE_EQ(result.counter("external_waste"), 0);
}

TEST(Fragmentation, CountsWhatNoBlockTakes) {
  Fragmentation::Parameters parameters;
  parameters.threads = 3;  // the third request returns null at once, so one round ends it
  parameters.request_bytes = 64;
  const auto result = test::sampled<Fragmentation, SlotMalloc<Fault::null_every_third>>(parameters, 64 << 10);
  EXPECT_EQ(result.counter("served_bytes"), 128);
  EXPECT_DOUBLE_EQ(result.counter("external_waste"), 1 - 2.0 / 1024);
}

}  // namespace
}  // namespace allocbench
