// These tests run workloads with allocators that free in bulk. Contents must stay intact until the last lane of a warp
// has released, and then the memory must be free. An allocator whose sessions never release must be detected.
#include <gtest/gtest.h>

#include <chrono>

#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_cycle_dealloc/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/alloc_dealloc/alloc_dealloc.hpp"
#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/pairs/kernels.hpp"
#include "workloads/pairs/pairs.hpp"
#include "workloads/prefix_sum/kernels.hpp"
#include "workloads/prefix_sum/prefix_sum.hpp"
#include "workloads/probability/probability.hpp"
#include "workloads/randomized/randomized.hpp"
#include "workloads/support/callers/random_action_kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/kernels/several_kernels.hpp"
#include "workloads/support/verification/leak_check.hpp"
#include "workloads/two_phase/two_phase.hpp"

namespace allocbench {
namespace {

constexpr std::chrono::milliseconds budget{250};

constexpr std::size_t pool_bytes = 8 << 20;
constexpr fdgmalloc::Parameters records{.most_warps = 1024};

// The sessions of this allocator ignore release_all().
struct Forgetful : FdgMallocReworkedOnKma {
  using Inner = fdgmalloc::Session<KmaReworked>;
  struct Session : Inner {
    template <class Thread>
    SIMT_FN void release_all(Thread&) {}
  };
  static Forgetful create(Arena& arena, const Parameters& parameters) {
    return {FdgMallocReworkedOnKma::create(arena, parameters)};
  }
  template <class Thread>
  SIMT_FN Session attach(Thread& thread) {
    return {FdgMallocReworkedOnKma::attach(thread)};
  }
};

// A workload, and the kernels that the workload and the leak check launch.
template <class W, class... Lists>
struct Tested {
  using Workload = W;
  using Rig = test::WorkloadRig<W, FdgMallocReworkedOnKma, CallKernels, Lists...>;
};

template <class W>
class BulkFrees : public ::testing::Test {};
using Workloads =
    ::testing::Types<Tested<AllocFree>, Tested<AllocDealloc, AllocDeallocKernels>,
                     Tested<AllocCycleDealloc, AllocCycleDeallocKernels>, Tested<Probability, RandomActionKernels>,
                     Tested<Pairs, PairsKernels>, Tested<TwoPhase, SeveralKernels>,
                     Tested<Randomized, RandomActionKernels>, Tested<PrefixSum, PrefixSumKernels>>;
TYPED_TEST_SUITE(BulkFrees, Workloads);

template <class P>
P small(std::uint32_t lanes_per_warp) {
  P parameters;
  if constexpr (requires { parameters.threads; }) {
    parameters.threads = 200;
  } else {
    parameters.blocks = 3;
  }
  parameters.threads_per_block = 80;
  parameters.lanes_per_warp = lanes_per_warp;
  parameters.request_bytes = 100;
  return parameters;
}

template <class Rig>
std::string three_observed_samples(Rig& rig) {
  for (int sample = 0; sample < 3; ++sample) {
    const std::string problem = rig.observed_sample();
    if (!problem.empty()) return problem;
  }
  return {};
}

TYPED_TEST(BulkFrees, KeepContentsAndReturnMemory) {
  using W = typename TypeParam::Workload;
  for (std::uint32_t lanes : {1u, 32u}) {
    const auto parameters = small<typename W::Parameters>(lanes);
    ASSERT_EQ((test::why_unsupported<W, FdgMallocReworkedOnKma>(parameters, pool_bytes, records)), "");
    typename TypeParam::Rig rig(parameters, pool_bytes, records);
    EXPECT_EQ(three_observed_samples(rig), "") << lanes << " lanes";
    LeakFindings none;
    // The verdict "partial" is also right, because the number of rounds within the time budget depends on the machine.
    EXPECT_GE(LeakCheck(rig.stream(), rig.run->requests(), rig.setting, none, budget).run(rig.allocator).rounds, 2u);
  }
}

// Each lane releases repeatedly while other lanes of its warp hold blocks. Memory is freed when no lane of a warp holds
// a block. The pool has room for all requests, in case this happens only at the end.
TEST(BulkFreesPrivate, ContentsStayWhileOtherLanesRelease) {
  TwoPhase::Parameters parameters;
  parameters.threads = 100;
  parameters.threads_per_block = 80;
  parameters.request_bytes = 1000;
  parameters.mode = "private";
  parameters.allocations = 3;
  parameters.cycles = 15;
  Tested<TwoPhase, SeveralKernels>::Rig rig(parameters, pool_bytes, records);
  EXPECT_EQ(three_observed_samples(rig), "");
}

TEST(BulkFreesLeak, IsFoundWhenASessionNeverReleases) {
  test::AllocatorRig rig(test::tested_type<Forgetful, CallKernels>(), pool_bytes, test::parameter_values(records));
  const RequestProfile profile{Geometry::of_callers(200, 64, 32), RequestSizes::fixed(2000)};
  LeakFindings none;
  // The leak ends the check, so this budget only has to suffice for the slowest build.
  constexpr std::chrono::seconds long_budget{60};
  EXPECT_THROW(static_cast<void>(LeakCheck(rig.stream(), profile, rig.setting, none, long_budget).run(rig.allocator)),
               CellFailure);
}

}  // namespace
}  // namespace allocbench
