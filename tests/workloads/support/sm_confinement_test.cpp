// These tests check that a confined kernel does all its work, and only on the multiprocessors to which it is confined.
#include "workloads/support/kernels/sm_confinement.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_cycle_dealloc/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/alloc_dealloc/alloc_dealloc.hpp"
#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/probability/probability.hpp"
#include "workloads/support/callers/random_action_kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

// Counts the calls by rank in the grid and by multiprocessor.
struct CountKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A, std::uint32_t* by_rank, std::uint32_t* by_sm,
                          std::uint32_t grid_size) const {
    if (thread.grid_size() != grid_size || thread.block_count() * thread.block_size() != grid_size) return;
    thread.atomic(by_rank[thread.rank_in_grid()]).fetch_add(1u, simt::relaxed);
    thread.atomic(by_sm[thread.sm()]).fetch_add(1u, simt::relaxed);
  }
};
using CountKernels = KernelList<KernelOn<CountKernel, std::uint32_t*, std::uint32_t*, std::uint32_t>,
                                ConfinedKernelOn<CountKernel, std::uint32_t*, std::uint32_t*, std::uint32_t>>;

TEST(SmConfinement, DoesEveryBlockOnceOnTheFirstMultiprocessors) {
  constexpr std::uint32_t blocks = 50, threads = 48;
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    test::AllocatorRig rig(test::tested_type<AtomicMalloc, CountKernels>(), 1 << 10, {}, seed);
    simt::Stream& stream = rig.stream();
    simt::Buffer<std::uint32_t> by_rank(blocks * threads), by_sm(4);
    by_rank.fill_bytes(stream, 0);
    by_sm.fill_bytes(stream, 0);
    SmConfinement confinement(stream, {.sms = 2});
    confinement.prepare();
    confinement.launch<CountKernels>(rig.allocator, {.blocks = blocks, .threads_per_block = threads}, CountKernel{},
                                     by_rank.data(), by_sm.data(), blocks * threads);
    EXPECT_EQ(by_rank.to_host(stream), std::vector<std::uint32_t>(blocks * threads, 1)) << "seed " << seed;
    const std::vector<std::uint32_t> sms = by_sm.to_host(stream);
    EXPECT_EQ(sms[0] + sms[1], blocks * threads) << "seed " << seed;
  }
}

template <class W, class... Lists>
void run_confined(std::uint32_t sms) {
  typename W::Parameters parameters;
  parameters.blocks = 20;
  parameters.threads_per_block = 64;
  parameters.sms = sms;
  test::WorkloadRig<W, KmaReworked, Lists...> rig(parameters, 1 << 20, {.superblock_bytes = 4096});
  EXPECT_EQ(rig.sample(), "") << sms;
  EXPECT_EQ(rig.sample(), "") << sms << ": again";
  EXPECT_EQ(rig.observed_sample(), "") << sms << ": observed, on all multiprocessors";
}
TEST(SmConfinement, LeavesTheGenericTestsAsTheyAre) {
  for (const std::uint32_t sms : {0u, 2u, 4u, 9u}) {
    run_confined<AllocDealloc, AllocDeallocKernels>(sms);
    run_confined<AllocCycleDealloc, AllocCycleDeallocKernels>(sms);
    run_confined<Probability, CallKernels, RandomActionKernels>(sms);
  }
}

}  // namespace
}  // namespace allocbench
