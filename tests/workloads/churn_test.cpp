// These tests check that churn keeps its live set at one size, replaces its blocks at random, and measures the memory
// that the set occupies.
#include "workloads/churn/churn.hpp"

#include <gtest/gtest.h>

#include <set>

#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/churn/live_set.hpp"
#include "workloads/support/callers/largest_free_request.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<Churn, A, CallKernels>;
using test::Fault;
using test::SlotMalloc;

Churn::Parameters rounds(std::uint32_t rounds, double live_share = 0.5) {
  Churn::Parameters parameters;
  parameters.threads = 50;
  parameters.threads_per_block = 64;
  parameters.sizes = "fixed";
  parameters.request_bytes = 64;
  parameters.live_share = live_share;
  parameters.rounds = rounds;
  return parameters;
}

TEST(LiveSet, DrawsDifferentPlacesAndAllOfThemInTime) {
  LiveSet live(100);
  live.clear();
  std::set<std::uint32_t> seen;
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto drawn = live.draw(20, 5, round);
    const std::set<std::uint32_t> places(drawn.begin(), drawn.end());
    ASSERT_EQ(places.size(), 20u) << round;
    seen.insert(places.begin(), places.end());
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(live.draw(100, 5, 99).size(), 100u);
}

TEST(LiveSet, MeasuresWhatIsInUse) {
  LiveSet live(4);
  live.clear();
  EXPECT_EQ(live.address_range(), 0u);
  live[1] = {1000, 24, 1};
  live[3] = {500, 100, 3};
  EXPECT_EQ(live.bytes(), 124u);
  EXPECT_EQ(live.address_range(), 524u);
  EXPECT_EQ(live.blocks().size(), 2u);
}

TEST(Churn, RenewsBlocksOfASetOfOneSize) {
  Rig<SlotMalloc<Fault::none>> rig(rounds(10), 1000 * 64);
  for (int sample = 0; sample < 3; ++sample) {
    EXPECT_EQ(sample == 2 ? rig.observed_sample() : rig.sample(), "");
    EXPECT_EQ(rig.operations("alloc"), 500u);
    EXPECT_EQ(rig.operations("free"), 500u);
    EXPECT_EQ(rig.counter("live_bytes"), 500u * 64);
    EXPECT_GE(rig.value("range_per_live"), 1);
    EXPECT_LE(rig.value("range_per_live"), 2);
    EXPECT_EQ(rig.counter("largest_free_request"), 64u);
    EXPECT_EQ(rig.value("lost_share"), 0) << "every slot is in use or serves another request";
  }
}

// Each request takes 48 B of a slot of 64 B, so a quarter of every slot is lost.
TEST(Churn, MeasuresWhatNobodyGetsOfThePool) {
  Churn::Parameters parameters = rounds(10, 0.3);
  parameters.request_bytes = 48;
  Rig<SlotMalloc<Fault::none>> rig(parameters, 1000 * 64);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_NEAR(rig.value("lost_share"), 0.25, 1e-9);
  EXPECT_EQ(rig.sample(), "") << "what was asked for last is freed again";
}

TEST(Churn, CountsRefusedRequests) {
  Rig<SlotMalloc<Fault::leak_every_third>> rig(rounds(60), 1000 * 64);
  const std::string problem = rig.sample();
  EXPECT_NE(problem.find(" nulls"), std::string::npos) << problem;
  EXPECT_EQ(rig.pointers.spurious_nulls(), std::optional(rig.pointers.nulls())) << "half of the pool is asked for";
}

TEST(Churn, TellsAFullPoolFromSpuriousNulls) {
  Rig<SlotMalloc<Fault::none>> full(rounds(4, 1.1), 1000 * 64);
  EXPECT_NE(full.sample().find(" nulls"), std::string::npos);
  EXPECT_EQ(full.pointers.spurious_nulls(), std::optional<std::uint64_t>(0));
  Rig<SlotMalloc<Fault::null_every_third>> refusing(rounds(4, 0.1), 1000 * 64);
  EXPECT_NE(refusing.sample().find(" nulls"), std::string::npos);
  EXPECT_EQ(refusing.pointers.spurious_nulls(), std::optional(refusing.pointers.nulls()));
}

// Each malloc starts its search one slot after the start of the previous search.
TEST(Churn, ComesApartWithTime) {
  const auto range_after = [](std::uint32_t count) {
    Rig<SlotMalloc<Fault::none>> rig(rounds(count, 0.3), 1000 * 64);
    EXPECT_EQ(rig.sample(), "");
    return rig.value("range_per_live");
  };
  EXPECT_LT(range_after(1), 1.2);
  EXPECT_GT(range_after(3), 1.2);
  EXPECT_GT(range_after(40), 3);
}

TEST(LargestFreeRequest, FindsTheLastFreeSlotAndLeavesIt) {
  Rig<SlotMalloc<Fault::none>> rig(rounds(1), 10 * 64);
  EXPECT_EQ(largest_free_request(rig.stream(), rig.setting, rig.allocator), 64u);
  EXPECT_EQ(largest_free_request(rig.stream(), rig.setting, rig.allocator), 64u);
  Rig<SlotMalloc<Fault::double_hand_out>> none(rounds(1), 10 * 64);
  EXPECT_EQ(largest_free_request(none.stream(), none.setting, none.allocator), 64u);
}

TEST(Churn, NeedsSingleFrees) {
  EXPECT_EQ((test::why_unsupported<Churn, KmaReworked>(rounds(1))), "");
  Churn::Parameters huge = rounds(1, 1.0);
  EXPECT_NE((test::why_unsupported<Churn, KmaReworked>(huge, std::size_t{1} << 40)), "");
}

}  // namespace
}  // namespace allocbench
