// two_phase makes as many calls as its parameters say, in both modes, and only by those who take part.
#include "workloads/two_phase.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/sampling.hpp"

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

test::Sampled sampled(const Parameters& parameters) {
  return test::sampled<TwoPhase, SlotMalloc<Fault::none>>(parameters);
}

TEST(TwoPhase, SpreeAllocatesInOneKernelAndFreesInTheNext) {
  Parameters parameters = small();
  parameters.allocations = 3;
  const test::Sampled result = sampled(parameters);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.blocks, 300u);
  EXPECT_EQ(result.operations("alloc"), 300u);
  EXPECT_EQ(result.operations("free"), 300u);
  EXPECT_EQ(result.counter("requested_bytes"), 300 * 16.0);
}

TEST(TwoPhase, PrivateRepeatsBothInOneKernel) {
  Parameters parameters = small();
  parameters.mode = "private";
  parameters.allocations = 2;
  parameters.cycles = 5;
  parameters.write_bytes = 16;
  const test::Sampled result = sampled(parameters);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.blocks, 1000u);
  EXPECT_EQ(result.operations("total"), 2000u);
}

TEST(TwoPhase, KeepsTheNumberOfRequestsWhenAsked) {
  Parameters parameters = small();
  parameters.mode = "private";
  parameters.total_requests = 1000;
  for (const std::uint32_t threads : {1u, 10u, 1000u}) {
    parameters.threads = threads;
    EXPECT_EQ(sampled(parameters).operations("total"), 2000u) << threads;
  }
  parameters.threads = 300;  // rounded up to whole cycles
  EXPECT_EQ(sampled(parameters).operations("total"), 2400u);
  parameters.mode = "spree";  // or to whole blocks per thread
  EXPECT_EQ(sampled(parameters).operations("alloc"), 1200u);
}

TEST(TwoPhase, MixedSizesAreDrawnPerRequest) {
  Parameters parameters = small();
  parameters.allocations = 4;
  parameters.sizes = "uniform";
  parameters.min_bytes = 1;
  parameters.max_bytes = 64;
  const test::Sampled result = sampled(parameters);
  EXPECT_EQ(result.problem, "");
  const RequestSizes sizes = RequestSizes::uniform(1, 64, 400, test::sampling_seed);
  std::uint64_t expected = 0;
  for (std::uint32_t request = 0; request < 400; ++request) expected += sizes[request];
  EXPECT_EQ(result.counter("requested_bytes"), static_cast<double>(expected));
}

// Callers by warp, of the 100 threads above: warps of 32, 32 and 16 in the first block, of 20 in the second.
TEST(TwoPhase, WhatTakesPartDoesSoAsAWhole) {
  Parameters parameters = small();
  parameters.share = 0.5;
  for (const char* unit : draw_unit_words) {
    parameters.divergence = unit;
    const std::vector<std::uint32_t> draws = draw_of_callers(parameters.geometry(), unit);
    const std::vector<std::uint8_t> flags = participants(test::sampling_seed, draws, 0.5);
    for (std::uint32_t a = 0; a < 100; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (draws[a] != draws[b]) continue;
        EXPECT_EQ(flags[a], flags[b]);
      }
    }
    const auto expected = static_cast<std::uint64_t>(std::count(flags.begin(), flags.end(), 1));
    const test::Sampled result = sampled(parameters);
    EXPECT_EQ(result.problem, "") << unit;
    EXPECT_EQ(result.blocks, expected) << unit;
    EXPECT_EQ(result.operations("alloc"), expected) << unit;
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
  const RunSetting<SlotMalloc<Fault::none>> setting{1 << 20, {}, 1};
  parameters.write_bytes = 17;
  EXPECT_NE(TwoPhase::unsupported(parameters, setting), "");
  parameters.write_bytes = 16;
  EXPECT_EQ(TwoPhase::unsupported(parameters, setting), "");
  parameters.mode = "private";
  parameters.cycles = 1 << 24;
  EXPECT_NE(TwoPhase::unsupported(parameters, setting), "");
}

TEST(TwoPhase, FindsBlocksOfOneThreadThatOverlap) {
  Parameters parameters = small();
  parameters.mode = "private";
  parameters.allocations = 2;
  parameters.threads = 1;
  const test::Sampled result = test::sampled<TwoPhase, SlotMalloc<Fault::double_hand_out>>(parameters);
  EXPECT_NE(result.problem.find("overlapping"), std::string::npos) << result.problem;
}

}  // namespace
}  // namespace allocbench
