// These tests check that exactly the wanted share of pages is free before get_page measures, and that no page stays
// allocated. They use every pattern, with pages that are marked and with pages that malloc takes.
#include "workloads/get_page/get_page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/random_walk/crw_reworked.hpp"
#include "allocators/random_walk/rw_bm_reworked.hpp"
#include "allocators/random_walk/rw_reworked.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/get_page/kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/occupancy/occupancy_kernels.hpp"
#include "workloads/support/verification/call_counter.hpp"

namespace allocbench {
namespace {

constexpr std::size_t pages = 1000;
constexpr std::size_t pool_bytes = pages * 256;

template <class A>
using Rig = test::WorkloadRig<GetPage, A, CallKernels, OccupancyKernels, GetPageKernels>;

template <class A>
class GetPageTest : public ::testing::Test {};
using PageAllocators = ::testing::Types<RandomWalkReworked, CollaborativeRandomWalkReworked, SimpleQueue>;
TYPED_TEST_SUITE(GetPageTest, PageAllocators);

template <class A>
typename A::Parameters thorough() {
  typename A::Parameters parameters;
  if constexpr (requires { parameters.scarce_share; }) parameters.scarce_share = 0.0001;
  return parameters;
}

TYPED_TEST(GetPageTest, LeavesTheWantedShareFree) {
  for (const char* pattern : {"uniform", "first_fit", "self_filled"}) {
    SCOPED_TRACE(pattern);
    GetPage::Parameters parameters;
    parameters.threads = 100;
    parameters.free_share = 0.04;
    parameters.pattern = pattern;
    const auto own = thorough<TypeParam>();
    ASSERT_EQ((test::why_unsupported<GetPage, TypeParam>(parameters, pool_bytes, own)), "");
    Rig<TypeParam> rig(parameters, pool_bytes, own);
    for (int sample = 0; sample < 3; ++sample) {
      EXPECT_EQ(sample == 2 ? rig.observed_sample() : rig.sample(), "60 nulls") << "40 pages for 100 requests";
      EXPECT_EQ(rig.pointers.spurious_nulls(), std::optional<std::uint64_t>(0));
      ASSERT_EQ(rig.timer->phases().size(), 2u);
      EXPECT_EQ(rig.operations("alloc"), 100u);
      EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    }
  }
}

TEST(GetPage, RefusesToTimeNullsBesideFreePages) {
  GetPage::Parameters parameters;
  parameters.threads = 100;
  Rig<test::SlotMalloc<test::Fault::null_always>> rig(parameters, pool_bytes);
  EXPECT_EQ(rig.sample(), "100 nulls");
  EXPECT_EQ(rig.pointers.refusal(pool_bytes),
            "100 of 100 requests returned null, although 125 KiB of a pool of 250 KiB was free");
  Rig<test::SlotMalloc<test::Fault::none, 256>> serving(parameters, pool_bytes);
  EXPECT_EQ(serving.sample(), "");
  EXPECT_EQ(serving.pointers.refusal(pool_bytes), "");
}

TEST(GetPage, CountsCyclesWhereAsked) {
  GetPage::Parameters parameters;
  parameters.threads = 64;
  parameters.lanes_per_warp = 8;
  parameters.cycles = true;
  Rig<RandomWalkReworked> rig(parameters, pool_bytes);
  EXPECT_EQ(rig.sample(), "");
  ASSERT_EQ(rig.timer->counters().size(), 2u);
  EXPECT_GT(rig.value("alloc_cycles"), 0);
  EXPECT_GT(rig.value("free_cycles"), 0);
  EXPECT_EQ(rig.run->kernels().size(), 2u);
}

// Returns the mean number of steps per malloc that `passes` verification passes count.
template <class A>
double counted_steps(const GetPage::Parameters& parameters, std::uint32_t pages_in_pool, std::uint32_t passes) {
  const std::size_t bytes = std::size_t{pages_in_pool} * 256;
  typename A::Parameters endless;
  if constexpr (requires { endless.scarce_share; }) endless.scarce_share = 0;
  Rig<A> rig(parameters, bytes, endless, 3);
  CallCounter counter(rig.stream(), rig.run->mallocs_at_most());
  CallStatistics statistics(A::traits.step);
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    rig.allocator.reset(rig.stream());
    EXPECT_EQ(rig.sample(rig.allocator.observed(counter.start(), {})), "");
    counter.add_to(statistics);
  }
  const std::vector<double>& values = statistics.values().front().second;
  EXPECT_EQ(statistics.values().front().first, "steps_per_malloc");
  EXPECT_EQ(values.size(), passes);
  return std::accumulate(values.begin(), values.end(), 0.0) / passes;
}

// expected_steps() computes formulas (3) and (5) of Pham et al. 2025, for requests that are served one after the other.
// A step looks at `width` pages, and the number of steps of a request has a geometric distribution.
struct Geometric {
  double mean = 0;
  double standard_error = 0;  // standard error of the mean over the requests
};
Geometric expected_steps(double pages_in_pool, double free, double requests, double width) {
  Geometric result;
  double variance = 0;
  for (int served = 0; served < requests; ++served) {
    const double chance = 1 - std::pow((pages_in_pool - free + served) / pages_in_pool, width);
    result.mean += 1 / chance / requests;
    variance += (1 - chance) / (chance * chance);
  }
  result.standard_error = std::sqrt(variance) / requests;
  return result;
}

GetPage::Parameters requests_of_pages(std::uint32_t threads, double free_share) {
  GetPage::Parameters parameters;
  parameters.threads = threads;
  parameters.free_share = free_share;
  return parameters;
}

TEST(GetPage, RWTakesTheStepsOfFormula3AtTheWantedShare) {
  for (const double share : {0.5, 0.02}) {
    const Geometric expected = expected_steps(100'000, 100'000 * share, 1'000, 1);
    const double measured = counted_steps<RandomWalkReworked>(requests_of_pages(1'000, share), 100'000, 4);
    EXPECT_NEAR(measured, expected.mean, 4 * expected.standard_error / 2) << share << " free";
  }
}

// The result may be up to a tenth above formula (5). A request takes a page of a word that has one. So words with free
// pages become fewer than if pages were taken anywhere.
TEST(GetPage, RWBMTakesTheStepsOfFormula5AtTheWantedShare) {
  const Geometric expected = expected_steps(320'000, 3'200, 1'000, 32);
  const double measured = counted_steps<RandomWalkBitmapReworked>(requests_of_pages(1'000, 0.01), 320'000, 4);
  EXPECT_GT(measured, expected.mean - 2 * expected.standard_error);
  EXPECT_LT(measured, 1.1 * expected.mean + 2 * expected.standard_error);
}

// The requests that fill the pool before the sample also take turns, which are not counted.
TEST(GetPage, OnlyTheRequestsOfTheSampleAreCounted) {
  EXPECT_DOUBLE_EQ(counted_steps<SimpleQueue>(requests_of_pages(100, 0.5), 1'000, 2), 50.5);
}

// If free pages come in large clusters, threads that hold a page find a free page beside it. Otherwise they walk.
TEST(GetPage, HeldPagesGiveCRWAPlaceToStart) {
  GetPage::Parameters parameters = requests_of_pages(500, 0.02);
  parameters.held = true;
  parameters.cluster_pages = 128;
  EXPECT_LT(counted_steps<ClusteredRandomWalkReworked>(parameters, 1 << 17, 2), 1.6);
  parameters.cluster_pages = 1;
  const double scattered = counted_steps<ClusteredRandomWalkReworked>(parameters, 1 << 17, 2);
  const double walk = expected_steps(1 << 17, 0.02 * (1 << 17), 500, 32).mean;
  EXPECT_GT(scattered, 1 + 0.4 * walk);
  EXPECT_LT(scattered, 1 + walk);
}

TEST(GetPage, NeedsSingleFreesAndRequestsOfAPage) {
  EXPECT_NE((test::why_unsupported<GetPage, AtomicMalloc>({}, pool_bytes)), "");
  GetPage::Parameters parameters;
  parameters.request_bytes = 257;
  EXPECT_NE((test::why_unsupported<GetPage, RandomWalkReworked>(parameters, pool_bytes)), "");
}

}  // namespace
}  // namespace allocbench
