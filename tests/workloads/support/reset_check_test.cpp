// These tests check that the reset check accepts designs that keep their promises, and names a broken promise.
#include "workloads/support/verification/reset_check.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "allocators/cuda_malloc/cuda_malloc.hpp"
#include "tests/workloads/allocator_rig.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using test::BulkMalloc;
using test::Fault;
using test::SlotMalloc;

template <class A>
std::string check_reset(std::size_t pool_bytes, std::uint32_t lanes_per_warp, ResetFindings& findings) {
  test::AllocatorRig rig(test::tested_type<A, CallKernels>(), pool_bytes);
  const bool in_pool = A::traits.pool == PoolLocation::arena;
  return ResetCheck(rig.stream(), rig.setting, in_pool ? rig.rules : PointerRules{}, lanes_per_warp, findings)
      .run(rig.allocator);
}

template <class A>
std::string check_reset(std::size_t pool_bytes, std::uint32_t lanes_per_warp = 32) {
  ResetFindings none;
  return check_reset<A>(pool_bytes, lanes_per_warp, none);
}

template <class A>
std::string complaint(std::size_t pool_bytes = 1 << 20) {
  try {
    return "passed: " + check_reset<A>(pool_bytes);
  } catch (const CellFailure& failure) {
    EXPECT_EQ(failure.status(), Status::incorrect);
    return failure.what();
  }
}

TEST(ResetCheck, PassesCorrectAllocators) {
  using Slots = SlotMalloc<Fault::none, 512>;
  EXPECT_TRUE(check_reset<Slots>(1 << 20).ends_with(
      "512 blocks of 512 B from a pool of 256 KiB"));  // a slow machine checks a part
  EXPECT_TRUE(check_reset<Slots>(1 << 20, 1)
                  .ends_with("512 blocks of 512 B from a pool of 256 KiB"));  // a slow machine checks a part
  EXPECT_TRUE(check_reset<AtomicMalloc>(1 << 20).ends_with(
      "512 blocks of 512 B from a pool of 256 KiB"));  // a slow machine checks a part
}

TEST(ResetCheck, DrainsThePoolOfTheCellWhereThatIsSmall) {
  EXPECT_TRUE(check_reset<AtomicMalloc>(4096).ends_with(
      "256 blocks of 16 B from a pool of 4 KiB"));  // a slow machine checks a part
}

// The pool never refuses a request, so the check takes only half of its blocks.
TEST(ResetCheck, GoesOnceRoundAPoolThatIsRecycledUnfreed) {
  EXPECT_TRUE(check_reset<AWMalloc>(1 << 20).ends_with(
      "256 blocks of 512 B from a pool of 256 KiB"));  // a slow machine checks a part
}

// Occasional refusals of different requests are not a loss.
TEST(ResetCheck, TellsRefusalsFromALoss) {
  EXPECT_EQ(complaint<SlotMalloc<Fault::null_now_and_then>>().substr(0, 8), "passed: ");
}

// The last blocks of a pool are found by chance. After enough requests the pool serves them all.
TEST(ResetCheck, DrainsPoolsOfDesignsThatGiveUpEarly) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(
        (complaint<SlotMalloc<Fault::short_search, 512>>().ends_with("512 blocks of 512 B from a pool of 256 KiB")));
  }
}

TEST(ResetCheck, FindsAWordThatResetForgets) {
  EXPECT_EQ((complaint<SlotMalloc<Fault::forgetful_reset, 512>>()),
            "after a reset() of the full pool the pool serves 511 blocks of 512 B; a new one serves 512 (pool of 256 "
            "KiB)");
}

TEST(ResetCheck, FindsABlockThatFreeOfNullGivesBack) {
  const std::string problem = complaint<SlotMalloc<Fault::null_gives_a_slot, 512>>();
  EXPECT_EQ(problem.find("after free(null)"), 0u) << problem;
  EXPECT_NE(problem.find("1 overlapping; first: request "), std::string::npos) << problem;
}

TEST(ResetCheck, FindsABlockThatFreeOfNullLoses) {
  EXPECT_EQ((complaint<SlotMalloc<Fault::null_takes_a_slot, 512>>()),
            "after a reset() and free(null) the pool serves 511 blocks of 512 B; a new one serves 512 (pool of 256 "
            "KiB)");
}

// A reset frees all memory, so only the leak check can find what frees lose.
TEST(ResetCheck, LeavesLeaksToTheLeakCheck) {
  EXPECT_EQ(complaint<SlotMalloc<Fault::leak_every_third>>().substr(0, 8), "passed: ");
}

// The kernel that frees nulls also releases all blocks. So blocks handed out after it are not handed out twice.
TEST(ResetCheck, PassesDesignsThatFreeInBulk) { EXPECT_EQ(complaint<BulkMalloc>().substr(0, 8), "passed: "); }

TEST(ResetCheck, IsWaivedWhereOnlyANewProcessIsNew) {
  EXPECT_EQ(check_reset<CudaMalloc>(1 << 20), "waived: only a new process makes CudaMalloc new");
}

// "earlier" stands for the result of another instance's check.
class SharedResetFindings : public testing::Test {
 protected:
  using Slots = SlotMalloc<Fault::none, 512>;
  static constexpr std::size_t drained_pool = 256 << 10;

  SharedResetFindings() {
    const test::AllocatorRig rig(test::tested_type<Slots, CallKernels>(), drained_pool);
    findings_.keep(rig.setting, 32, drained_pool, "earlier");
  }

  ResetFindings findings_;
};

TEST_F(SharedResetFindings, HoldForPoolsOfOtherSizes) {
  EXPECT_EQ(check_reset<Slots>(drained_pool, 32, findings_), "earlier");
  EXPECT_EQ(check_reset<Slots>(64 << 20, 32, findings_), "earlier");
}

TEST_F(SharedResetFindings, DoNotHoldForSmallerPoolsAndOtherLanes) {
  EXPECT_TRUE(check_reset<Slots>(1 << 17, 32, findings_).ends_with("from a pool of 128 KiB"));
  EXPECT_TRUE(check_reset<Slots>(1 << 20, 1, findings_).ends_with("from a pool of 256 KiB"));
}

TEST_F(SharedResetFindings, AreThoseOfTheFirstCheck) {
  const std::string first = check_reset<Slots>(1 << 20, 1, findings_);
  const test::AllocatorRig rig(test::tested_type<Slots, CallKernels>(), 2 << 20);
  EXPECT_EQ(findings_.find(rig.setting, 1), first);
}

}  // namespace
}  // namespace allocbench
