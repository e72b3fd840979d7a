// These tests check that randomized follows the alternating probabilities, and counts the last launch and the earlier
// ones separately.
#include "workloads/randomized/randomized.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/support/callers/random_action_kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/random/probability_steps.hpp"

namespace allocbench {
namespace {

using Rig = test::WorkloadRig<Randomized, test::SlotMalloc<test::Fault::none>, CallKernels, RandomActionKernels>;

TEST(Randomized, CertainChancesAlternate) {
  Randomized::Parameters parameters;
  parameters.threads = 70;
  parameters.p_alloc_even = 1;
  parameters.p_free_even = 0;
  parameters.p_alloc_odd = 0;
  parameters.p_free_odd = 1;
  for (const std::uint32_t launches : {1u, 4u, 5u}) {
    parameters.launches = launches;
    Rig rig(parameters);
    EXPECT_EQ(rig.sample(), "");
    EXPECT_EQ(rig.counter("mallocs"), 70 * ((launches + 1) / 2));
    EXPECT_EQ(rig.counter("frees"), 70 * (launches / 2));
    EXPECT_EQ(rig.operations("last"), 70u);
    if (launches == 1) continue;
    EXPECT_EQ(rig.operations("earlier"), 70u * (launches - 1));
  }
}

// Slots of callers that did nothing, and marks of frees, are not pointers. Every other slot is judged.
TEST(Randomized, WrongPointersAreFoundAmongIdleSlots) {
  Randomized::Parameters parameters;
  parameters.threads = 70;
  parameters.launches = 4;
  test::WorkloadRig<Randomized, test::SlotMalloc<test::Fault::misaligned>, CallKernels, RandomActionKernels> wrong(
      parameters);
  const std::string problem = wrong.sample();
  EXPECT_NE(problem.find("1 misaligned; first: request "), std::string::npos) << problem;
  Rig rig(parameters);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), rig.counter("mallocs"));
}

TEST(Randomized, LanesOfAWarpActTogetherWhenTheyShareADraw) {
  const Geometry geometry = Geometry::of_callers(96, 64, 32);
  const auto steps = probability_steps(5, draw_of_callers(geometry, "warp"), 8, {.95, .55}, {.55, .95});
  ASSERT_EQ(steps.size(), 96u * 8);
  for (std::size_t slot = 0; slot < steps.size(); ++slot) EXPECT_EQ(steps[slot], steps[slot / 32 * 32]);
}

// With 20,000 draws, five standard deviations of a share are below 0.018.
TEST(Randomized, EvenAndOddLaunchesHaveTheirOwnChances) {
  const std::uint32_t callers = 20'000;
  const auto steps = probability_steps(5, draw_of_callers(Geometry::of_callers(callers, 256, 32), "thread"), 2,
                                       {.95, .55}, {.55, .95});
  const auto share = [&](std::size_t launch, std::uint8_t step) {
    const auto row = steps.begin() + static_cast<std::ptrdiff_t>(launch * callers);
    return static_cast<double>(std::count_if(row, row + callers, [&](std::uint8_t s) { return (s & step) != 0; })) /
           callers;
  };
  EXPECT_NEAR(share(0, step_allocates), .95, .018);
  EXPECT_NEAR(share(0, step_frees), .55, .018);
  EXPECT_NEAR(share(1, step_allocates), .55, .018);
  EXPECT_NEAR(share(1, step_frees), .95, .018);
}

TEST(Randomized, MixedActionsLeaveCorrectPointers) {
  Randomized::Parameters parameters;
  parameters.threads = 200;
  for (const char* unit : draw_unit_words) {
    parameters.divergence = unit;
    EXPECT_EQ(Rig(parameters).sample(), "") << unit;
  }
}

}  // namespace
}  // namespace allocbench
