// These tests check that the workload `probability` counts the same calls as a plain host program with the same draws.
#include "workloads/probability/probability.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/support/callers/random_action_kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

struct Counts {
  std::uint64_t mallocs = 0;
  std::uint64_t frees = 0;
};

// Applies the rule of the paper to each caller, with one draw per launch.
Counts host_reference(const Probability::Parameters& p, std::uint64_t seed) {
  Counts counts;
  for (std::uint32_t caller = 0; caller < p.geometry().callers; ++caller) {
    bool holds = false;
    for (std::uint32_t launch = 0; launch < p.launches; ++launch) {
      const double draw = unit_interval(random_words(seed, RandomStream::probability_steps, caller, launch).words[0]);
      if (!holds && draw < p.p_alloc) {
        ++counts.mallocs;
        holds = true;
      } else if (holds && draw < p.p_free) {
        ++counts.frees;
        holds = false;
      }
    }
  }
  return counts;
}

template <class A>
Counts device_counts(const Probability::Parameters& parameters, std::uint64_t seed) {
  test::WorkloadRig<Probability, A, CallKernels, RandomActionKernels> rig(parameters, 1 << 20, {}, seed);
  EXPECT_EQ(rig.sample(), "");
  const Counts counts{rig.counter("mallocs"), rig.counter("frees")};
  EXPECT_EQ(rig.operations("total"), counts.mallocs + counts.frees);
  return counts;
}

TEST(Probability, CountsEqualTheHostReference) {
  Probability::Parameters parameters;
  parameters.blocks = 6;
  for (const std::uint64_t seed : {0ull, 1ull, 0xffffffffffffffffull}) {
    const Counts expected = host_reference(parameters, seed);
    const Counts bump = device_counts<AtomicMalloc>(parameters, seed);
    EXPECT_EQ(bump.mallocs, expected.mallocs) << "seed " << seed;
    EXPECT_EQ(bump.frees, expected.frees) << "seed " << seed;
    const Counts slots = device_counts<test::SlotMalloc<test::Fault::none>>(parameters, seed);
    EXPECT_EQ(slots.mallocs, expected.mallocs) << "seed " << seed;
    EXPECT_EQ(slots.frees, expected.frees) << "seed " << seed;
  }
}

TEST(Probability, AlternatesWhenBothAreCertain) {
  Probability::Parameters parameters;
  parameters.blocks = 1;
  parameters.launches = 5;
  parameters.p_alloc = 1;
  parameters.p_free = 1;
  const Counts counts = device_counts<AtomicMalloc>(parameters, 3);
  EXPECT_EQ(counts.mallocs, 8u * 3);
  EXPECT_EQ(counts.frees, 8u * 2);
}

TEST(Probability, DoesNothingWhenNothingIsLikely) {
  Probability::Parameters parameters;
  parameters.blocks = 1;
  parameters.p_alloc = 0;
  EXPECT_EQ(device_counts<AtomicMalloc>(parameters, 3).mallocs, 0u);
}

}  // namespace
}  // namespace allocbench
