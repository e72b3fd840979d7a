// A confined kernel does all its work, on the multiprocessors it is confined to.
#include "workloads/common/sm_confinement.hpp"

#include <gtest/gtest.h>

#include "allocators/kma/kma.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_dealloc.hpp"
#include "workloads/probability.hpp"

namespace allocbench {
namespace {

using test::WorkloadRig;

// Counts the calls by rank in grid, and by multiprocessor.
struct CountKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* by_rank, std::uint32_t* by_sm, std::uint32_t grid_size) const {
    if (thread.grid_size() != grid_size || thread.block_count() * thread.block_size() != grid_size) return;
    thread.atomic(by_rank[thread.rank_in_grid()]).fetch_add(1u, simt::relaxed);
    thread.atomic(by_sm[thread.sm()]).fetch_add(1u, simt::relaxed);
  }
};

TEST(SmConfinement, DoesEveryBlockOnceOnTheFirstMultiprocessors) {
  constexpr std::uint32_t blocks = 50, threads = 48;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.seed = seed;
    simt::Device device(options);
    simt::Stream stream(device);
    simt::Buffer<std::uint32_t> by_rank(blocks * threads), by_sm(4);
    by_rank.fill_bytes(stream, 0);
    by_sm.fill_bytes(stream, 0);
    SmConfinement confinement(stream, {.sms = 2});
    confinement.prepare();
    confinement.launch<true>({.blocks = blocks, .threads_per_block = threads}, CountKernel{}, by_rank.data(),
                             by_sm.data(), blocks * threads);
    EXPECT_EQ(by_rank.to_host(stream), std::vector<std::uint32_t>(blocks * threads, 1)) << "seed " << seed;
    const std::vector<std::uint32_t> sms = by_sm.to_host(stream);
    EXPECT_EQ(sms[0] + sms[1], blocks * threads) << "seed " << seed;
  }
}

template <class W>
void run_confined(std::uint32_t sms) {
  typename W::Parameters parameters;
  parameters.blocks = 20;
  parameters.threads_per_block = 64;
  parameters.sms = sms;
  WorkloadRig<W, Kma> rig(parameters, 1 << 20, {.superblock_bytes = 4096});
  EXPECT_EQ(rig.sample(), "") << sms;
  EXPECT_EQ(rig.sample(), "") << sms << ": again";
}
TEST(SmConfinement, LeavesTheGenericTestsAsTheyAre) {
  for (const std::uint32_t sms : {0u, 2u, 4u, 9u}) {
    run_confined<AllocDealloc>(sms);
    run_confined<AllocCycleDealloc>(sms);
    run_confined<Probability>(sms);
  }
}

}  // namespace
}  // namespace allocbench
