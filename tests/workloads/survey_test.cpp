// These tests check the workloads of Winter et al., PPoPP'21, that no other paper has: address_range, work_generation
// and write_performance.
#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/address_range/address_range.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/work_generation/work_generation.hpp"
#include "workloads/write_performance/write_performance.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;
template <class W, class A>
using Rig = test::WorkloadRig<W, A, CallKernels>;

AddressRange::Parameters rounds_of(std::uint32_t threads, std::uint32_t rounds) {
  AddressRange::Parameters parameters;
  parameters.threads = threads;
  parameters.rounds = rounds;
  parameters.request_bytes = 64;
  return parameters;
}

// A bump pointer packs its blocks and continues at its last position.
TEST(AddressRange, OfABumpPointerGrowsFromRoundToRound) {
  Rig<AddressRange, AtomicMalloc> rig(rounds_of(100, 5), 1 << 16);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.counter("range_bytes"), 6400u);
  EXPECT_EQ(rig.value("address_spread"), 1);
  EXPECT_EQ(rig.value("running_spread"), 5);
  EXPECT_EQ(rig.operations("alloc"), 500u);
  EXPECT_EQ(rig.operations("free"), 500u);
}

// Each block lies in a slot of 128 B. The calls take one slot after the other.
TEST(AddressRange, CountsWhatLiesBetweenTheBlocks) {
  const auto in_slots = [&](std::uint32_t request) {
    AddressRange::Parameters parameters = rounds_of(100, 1);
    parameters.request_bytes = request;
    Rig<AddressRange, SlotMalloc<Fault::none, 128>> each(parameters, 128 * 128);
    EXPECT_EQ(each.sample(), "");
    return each.counter("range_bytes");
  };
  EXPECT_EQ(in_slots(64), 99u * 128 + 64);
  EXPECT_EQ(in_slots(100), 99u * 128 + 100);
}

TEST(AddressRange, IsObservedForFourRounds) {
  Rig<AddressRange, KmaReworked> few(rounds_of(200, 3), 1 << 20, {.superblock_bytes = 4096});
  EXPECT_EQ(few.observed_sample(), "");
  EXPECT_EQ(few.pointers.blocks(), 600u);
  EXPECT_EQ(few.run->mallocs_at_most(), 600u);
  Rig<AddressRange, KmaReworked> many(rounds_of(20, 30), 1 << 20, {.superblock_bytes = 4096});
  EXPECT_EQ(many.observed_sample(), "");
  EXPECT_EQ(many.pointers.blocks(), 20u * 4);
  EXPECT_EQ(many.sample(), "");
  EXPECT_EQ(many.pointers.blocks(), 20u * 30) << "samples run all";
}

TEST(AddressRange, JudgesEveryRoundByItself) {
  Rig<AddressRange, SlotMalloc<Fault::none>> again(rounds_of(50, 6), 64 * 64);
  EXPECT_EQ(again.sample(), "") << "the same slots serve every round";
  Rig<AddressRange, SlotMalloc<Fault::double_hand_out>> twice(rounds_of(50, 1), 1 << 16);
  EXPECT_NE(twice.sample().find("overlapping"), std::string::npos);
  Rig<AddressRange, SlotMalloc<Fault::none>> full(rounds_of(50, 3), 40 * 64);
  EXPECT_EQ(full.sample(), "30 nulls");
}

TEST(AddressRange, RefusesMorePointersThanItKeeps) {
  EXPECT_NE((test::why_unsupported<AddressRange, AtomicMalloc>(rounds_of(1 << 20, 1000))), "");
}

template <class W>
typename W::Parameters mixed(std::uint32_t threads) {
  typename W::Parameters parameters;
  parameters.threads = threads;
  parameters.sizes = "uniform";
  parameters.min_bytes = 4;
  parameters.max_bytes = 64;
  return parameters;
}

TEST(WorkGeneration, TimesBothWays) {
  Rig<WorkGeneration, SlotMalloc<Fault::none>> rig(mixed<WorkGeneration>(300));
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.observed_sample(), "");
  ASSERT_EQ(rig.timer->phases().size(), 3u);
  EXPECT_EQ(rig.operations("malloc_free"), 600u);
  EXPECT_EQ(rig.operations("baseline"), 300u);
  EXPECT_EQ(rig.operations("baseline_pool"), 300u);
}

TEST(WorkGeneration, LeavesNothingAllocated) {
  Rig<WorkGeneration, SlotMalloc<Fault::none>> rig(mixed<WorkGeneration>(100), 64 * 100);
  for (int sample = 0; sample < 3; ++sample) EXPECT_EQ(rig.sample(), "") << sample;
}

TEST(WorkGeneration, ChecksThePointersOfMalloc) {
  Rig<WorkGeneration, SlotMalloc<Fault::double_hand_out>> rig(mixed<WorkGeneration>(100));
  EXPECT_NE(rig.sample().find("overlapping"), std::string::npos);
}

WritePerformance::Parameters writes(std::uint32_t threads) {
  WritePerformance::Parameters parameters = mixed<WritePerformance>(threads);
  parameters.passes = 3;
  return parameters;
}

TEST(WritePerformance, WritesEveryWordOfEveryBlock) {
  WritePerformance::Parameters parameters = writes(200);
  Rig<WritePerformance, KmaReworked> rig(parameters, 1 << 20, {.superblock_bytes = 4096});
  EXPECT_EQ(rig.sample(), "");
  const RequestSizes sizes = parameters.request_sizes(200, rig.setting.seed);
  std::uint64_t words = 0;
  for (std::size_t caller = 0; caller < 200; ++caller) words += sizes[caller] / 4;
  EXPECT_EQ(rig.operations("write"), 3 * words);
  EXPECT_EQ(rig.operations("baseline"), 3 * words);
}

TEST(WritePerformance, SeesWordsThatAnotherBlockHas) {
  Rig<WritePerformance, SlotMalloc<Fault::overlap>> rig(writes(100));
  EXPECT_NE(rig.sample().find("overlapping"), std::string::npos);
}

TEST(WritePerformance, CountsNulls) {
  Rig<WritePerformance, SlotMalloc<Fault::null_every_third>> rig(writes(99));
  EXPECT_EQ(rig.sample(), "33 nulls");
}

TEST(WritePerformance, SaysWhatItCannotWrite) {
  WritePerformance::Parameters tiny = writes(10);
  tiny.min_bytes = 2;
  EXPECT_THROW((test::why_unsupported<WritePerformance, AtomicMalloc>(tiny)), std::invalid_argument);
  EXPECT_NE((test::why_unsupported<WritePerformance, AWMalloc>(writes(1000), 4096)), "");
  WritePerformance::Parameters large = writes(1 << 20);
  large.max_bytes = 1 << 14;
  EXPECT_NE((test::why_unsupported<WritePerformance, AtomicMalloc>(large, 1ull << 40)), "");
}

}  // namespace
}  // namespace allocbench
