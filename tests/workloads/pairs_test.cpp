// These tests check that pairs makes every pair, with the sizes that the seed gives.
#include "workloads/pairs/pairs.hpp"

#include <gtest/gtest.h>

#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/pairs/kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;
template <class A>
using Rig = test::WorkloadRig<Pairs, A, PairsKernels>;

Pairs::Parameters small(std::uint32_t threads, std::uint32_t iterations) {
  Pairs::Parameters parameters;
  parameters.threads = threads;
  parameters.threads_per_block = 64;
  parameters.iterations = iterations;
  return parameters;
}

TEST(Pairs, OfOneThreadReuseOneBlock) {
  Rig<SlotMalloc<Fault::none>> rig(small(1, 50), 64 * 50);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.sample(), "") << "nothing stays allocated";
  EXPECT_EQ(rig.timer->phases().at(0).operations, 100u);
}

TEST(Pairs, OfAVerificationPassAreSixteenPerThread) {
  Rig<SlotMalloc<Fault::none>> rig(small(3, 50), 64 * 50);
  EXPECT_EQ(rig.observed_sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 3u * 16);
  EXPECT_EQ(rig.operations("total"), 2u * 3 * 16);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 3u * 50) << "samples make all";
}

TEST(Pairs, NeedMemoryForOneBlockPerThreadOnly) {
  Rig<SlotMalloc<Fault::none>> rig(small(96, 20), 64 * 96);
  EXPECT_EQ(rig.sample(), "");
}

TEST(Pairs, ShowsALostFreeAsNulls) {
  Rig<SlotMalloc<Fault::leak_every_third>> rig(small(1, 50), 64 * 10);
  EXPECT_NE(rig.sample(), "");
}

TEST(Pairs, FindsAMisalignedBlock) {
  Rig<SlotMalloc<Fault::misaligned>> rig(small(8, 4), 64 * 64);
  EXPECT_NE(rig.sample().find("1 misaligned"), std::string::npos);
}

TEST(Pairs, DrawEverySizeAnew) {
  Pairs::Parameters parameters = small(40, 10);
  parameters.sizes = "uniform";
  parameters.min_bytes = 4;
  parameters.max_bytes = 1024;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rig<KmaReworked> rig(parameters, 1 << 20, {.superblock_bytes = 4096}, seed);
    EXPECT_EQ(rig.sample(), "") << "seed " << seed;
    const RequestSizes all = parameters.request_sizes(400, seed);
    const RequestSizes live = rig.run->requests().sizes;
    for (std::size_t caller = 0; caller < 40; ++caller) EXPECT_EQ(live[caller], all[caller]);
    EXPECT_NE(all[0], all[40]) << "seed " << seed << ": the second pair of a thread has the size of its first";
  }
}

TEST(Pairs, KeepTheirBlocksWhereFreesAreInBulk) {
  Rig<FdgMallocReworkedOnKma> rig(small(80, 10), 8 << 20, {.most_warps = 64});
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.sample(), "");
}

TEST(Pairs, RefuseMoreThanTheirIndicesHold) {
  EXPECT_NE((test::why_unsupported<Pairs, KmaReworked>(small(1 << 20, 1 << 10))), "");
}

}  // namespace
}  // namespace allocbench
