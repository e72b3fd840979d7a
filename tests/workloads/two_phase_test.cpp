// These tests check that two_phase makes as many calls as its parameters say, in both modes, and that only callers that
// take part call.
#include "workloads/two_phase/two_phase.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/support/kernels/several_kernels.hpp"
#include "workloads/support/random/probability_steps.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;
using Parameters = TwoPhase::Parameters;

Parameters small() {
  Parameters parameters;
  parameters.threads = 100;
  parameters.threads_per_block = 80;
  return parameters;
}

template <class A>
using RigOf = test::WorkloadRig<TwoPhase, A, SeveralKernels>;
using Slots = SlotMalloc<Fault::none>;
using Rig = RigOf<Slots>;
constexpr std::uint64_t seed = 11;

TEST(TwoPhase, SpreeAllocatesInOneKernelAndFreesInTheNext) {
  Parameters parameters = small();
  parameters.allocations = 3;
  Rig rig(parameters);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 300u);
  EXPECT_EQ(rig.operations("alloc"), 300u);
  EXPECT_EQ(rig.operations("free"), 300u);
  EXPECT_EQ(rig.value("requested_bytes"), 300 * 16.0);
}

TEST(TwoPhase, PrivateRepeatsBothInOneKernel) {
  Parameters parameters = small();
  parameters.mode = "private";
  parameters.allocations = 2;
  parameters.cycles = 5;
  parameters.write_bytes = 16;
  Rig rig(parameters);
  EXPECT_EQ(rig.observed_sample(), "") << "writes into blocks that the adaptor has filled";
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 1000u);
  EXPECT_EQ(rig.operations("total"), 2000u);
}

std::uint64_t operations(const Parameters& parameters, std::string_view phase) {
  Rig rig(parameters);
  EXPECT_EQ(rig.sample(), "");
  return rig.operations(phase);
}

TEST(TwoPhase, KeepsTheNumberOfRequestsWhenAsked) {
  Parameters parameters = small();
  parameters.mode = "private";
  parameters.total_requests = 1000;
  for (const std::uint32_t threads : {1u, 10u, 1000u}) {
    parameters.threads = threads;
    EXPECT_EQ(operations(parameters, "total"), 2000u) << threads;
  }
  parameters.threads = 300;  // rounded up to whole cycles
  EXPECT_EQ(operations(parameters, "total"), 2400u);
  parameters.mode = "spree";  // rounded up to whole blocks per thread
  EXPECT_EQ(operations(parameters, "alloc"), 1200u);
}

TEST(TwoPhase, MixedSizesAreDrawnPerRequest) {
  Parameters parameters = small();
  parameters.allocations = 4;
  parameters.sizes = "uniform";
  parameters.min_bytes = 1;
  parameters.max_bytes = 64;
  Rig rig(parameters, 1 << 20, {}, seed);
  EXPECT_EQ(rig.sample(), "");
  const RequestSizes sizes = RequestSizes::uniform(1, 64, 400, seed);
  std::uint64_t expected = 0;
  for (std::uint32_t request = 0; request < 400; ++request) expected += sizes[request];
  EXPECT_EQ(rig.value("requested_bytes"), static_cast<double>(expected));
}

// The 100 threads of small() form warps of 32, 32 and 16 callers in the first block, and of 20 in the second.
TEST(TwoPhase, WhatTakesPartDoesSoAsAWhole) {
  Parameters parameters = small();
  parameters.share = 0.5;
  for (const char* unit : draw_unit_words) {
    parameters.divergence = unit;
    const std::vector<std::uint32_t> draws = draw_of_callers(parameters.geometry(), unit);
    const std::vector<std::uint8_t> flags = participants(seed, draws, 0.5);
    for (std::uint32_t a = 0; a < 100; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (draws[a] != draws[b]) continue;
        EXPECT_EQ(flags[a], flags[b]);
      }
    }
    const auto expected = static_cast<std::uint64_t>(std::count(flags.begin(), flags.end(), 1));
    Rig rig(parameters, 1 << 20, {}, seed);
    EXPECT_EQ(rig.sample(), "") << unit;
    EXPECT_EQ(rig.pointers.blocks(), expected) << unit;
    EXPECT_EQ(rig.operations("alloc"), expected) << unit;
  }
}

TEST(TwoPhase, DrawsAreThoseOfTheUnit) {
  const Geometry geometry = Geometry::of_callers(100, 80, 32);
  const auto threads = draw_of_callers(geometry, "thread");
  const auto warps = draw_of_callers(geometry, "warp");
  const auto blocks = draw_of_callers(geometry, "block");
  EXPECT_EQ(threads[99], 99u);
  EXPECT_EQ((std::vector{warps[0], warps[31], warps[32], warps[64], warps[79], warps[80], warps[99]}),
            (std::vector<std::uint32_t>{0, 0, 1, 2, 2, 3, 3}));
  EXPECT_EQ((std::vector{blocks[0], blocks[79], blocks[80]}), (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(TwoPhase, RefusesWhatItCannotKeepOrWrite) {
  Parameters parameters = small();
  const auto why_unsupported = [&] { return test::why_unsupported<TwoPhase, Slots>(parameters); };
  parameters.write_bytes = 17;
  EXPECT_NE(why_unsupported(), "");
  parameters.write_bytes = 16;
  EXPECT_EQ(why_unsupported(), "");
  parameters.mode = "private";
  parameters.cycles = 1 << 24;
  EXPECT_NE(why_unsupported(), "");
}

TEST(TwoPhase, FindsBlocksOfOneThreadThatOverlap) {
  Parameters parameters = small();
  parameters.mode = "private";
  parameters.allocations = 2;
  parameters.threads = 1;
  const std::string problem = RigOf<SlotMalloc<Fault::double_hand_out>>(parameters).sample();
  EXPECT_NE(problem.find("overlapping"), std::string::npos) << problem;
}

}  // namespace
}  // namespace allocbench
