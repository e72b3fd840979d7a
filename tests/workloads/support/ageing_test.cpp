// These tests check that an aged heap still works, and that the same seed leaves the same share of it in use.
#include "workloads/support/occupancy/ageing.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

AllocFree::Parameters few(std::uint32_t threads) {
  AllocFree::Parameters parameters;
  parameters.threads = threads;
  parameters.threads_per_block = 64;
  parameters.request_bytes = 64;
  return parameters;
}

template <class A>
using Rig = test::WorkloadRig<AllocFree, A, CallKernels, ScriptKernels>;
using Slots = test::SlotMalloc<test::Fault::none>;

template <class R>
Ageing ageing_of(R& rig, std::uint64_t rounds) {
  return Ageing(rig.stream(), rig.setting, rig.run->requests(), rounds);
}

// Returns the number of slots that single mallocs still get.
template <class R>
std::uint64_t free_slots(R& rig, std::uint64_t slots) {
  simt::Buffer<void*> blocks(slots);
  const Geometry geometry = Geometry::of_callers(static_cast<std::uint32_t>(slots), 64, 32);
  rig.allocator.template launch<CallKernels>(rig.stream(), geometry.shape(), AllocKernel{}, geometry, FixedSize{64},
                                             blocks.data());
  const std::vector<void*> host = blocks.to_host(rig.stream());
  return slots - static_cast<std::uint64_t>(std::count(host.begin(), host.end(), nullptr));
}

TEST(Ageing, LeavesAnEighthOfItsBlocksAndNothingElse) {
  constexpr std::uint64_t slots = 4096;
  Rig<Slots> rig(few(50), slots * 64);
  Ageing ageing = ageing_of(rig, 130);
  ageing.age(rig.allocator);
  // The 50 threads have 40 slots each. On average up to half of the slots are full, and every eighth block stays.
  EXPECT_GT(ageing.survivors(), 50u);
  EXPECT_LT(ageing.survivors(), 50u * 40 / 8);
  EXPECT_EQ(free_slots(rig, slots), slots - ageing.survivors());
}

TEST(Ageing, IsAFunctionOfTheSeed) {
  const auto survivors = [](std::uint64_t seed, std::uint64_t rounds) {
    Rig<Slots> rig(few(64), 1 << 20, {}, seed);
    Ageing ageing = ageing_of(rig, rounds);
    ageing.age(rig.allocator);
    const std::uint64_t first = ageing.survivors();
    rig.allocator.reset(rig.stream());
    ageing.age(rig.allocator);
    EXPECT_EQ(ageing.survivors(), first) << "the same again";
    return first;
  };
  EXPECT_EQ(survivors(1, 100), survivors(1, 100));
  EXPECT_NE(survivors(1, 100), survivors(1, 30));
  EXPECT_EQ(survivors(3, 0), 0u);
}

TEST(Ageing, LeaveGivesBackWhatIsLeft) {
  constexpr std::uint64_t slots = 512;
  Rig<Slots> rig(few(32), slots * 64);
  Ageing ageing = ageing_of(rig, 65);
  ageing.age(rig.allocator);
  ASSERT_GT(ageing.survivors(), 0u);
  ageing.leave(rig.allocator);
  EXPECT_EQ(ageing.survivors(), 0u);
  EXPECT_EQ(free_slots(rig, slots), slots);
}

template <class A>
class AgeingOf : public ::testing::Test {};
using Designs = ::testing::Types<KmaReworked, CollaborativeRandomWalkReworked, FdgMallocReworkedOnKma>;
TYPED_TEST_SUITE(AgeingOf, Designs);

TYPED_TEST(AgeingOf, EveryDesignServesAnAgedHeap) {
  typename TypeParam::Parameters own;
  if constexpr (requires { own.most_warps; }) own.most_warps = 64;
  Rig<TypeParam> rig(few(100), 8 << 20, own);
  Ageing ageing = ageing_of(rig, 70);
  ageing.age(rig.allocator);
  for (int sample = 0; sample < 2; ++sample) EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.observed_sample(), "");
}

TEST(Ageing, NeedsFrees) {
  EXPECT_NE(Ageing::unsupported(test::tested_type<AtomicMalloc, CallKernels, ScriptKernels>()), "");
  EXPECT_NE(Ageing::unsupported(test::tested_type<KmaReworked, CallKernels>()), "") << "without its kernel";
}

}  // namespace
}  // namespace allocbench
