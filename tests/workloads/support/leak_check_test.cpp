// These tests check that the leak check accepts allocators that serve again after frees, and reports lost memory.
#include "workloads/support/verification/leak_check.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/cuda_malloc/cuda_malloc.hpp"
#include "tests/workloads/allocator_rig.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;

template <class A>
LeakResult check_leaks(std::size_t pool_bytes, std::uint32_t callers,
                       std::chrono::milliseconds budget = std::chrono::hours(1)) {
  test::AllocatorRig rig(test::tested_type<A, CallKernels>(), pool_bytes);
  const RequestProfile profile{Geometry::of_callers(callers, 128, 32), RequestSizes::fixed(48)};
  LeakFindings none;
  return LeakCheck(rig.stream(), profile, rig.setting, none, budget).run(rig.allocator);
}

TEST(LeakCheck, PassesACorrectAllocator) {
  const LeakResult result = check_leaks<SlotMalloc<Fault::none>>(1 << 20, 100);
  EXPECT_EQ(result.verdict, "checked");
  EXPECT_GE(result.rounds, 16u);
  EXPECT_EQ(result.spurious_nulls, 0u);
}

// One block in three is lost. The cell's pool of 16 MiB would last for thousands of rounds, but the small instance does
// not.
TEST(LeakCheck, FindsALeakThatTheCellsPoolWouldHide) {
  try {
    check_leaks<SlotMalloc<Fault::leak_every_third>>(16 << 20, 160);
    FAIL() << "no leak was found";
  } catch (const CellFailure& failure) {
    EXPECT_EQ(failure.status(), Status::incorrect);
    EXPECT_NE(std::string(failure.what()).find("leak: "), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find("of 160 requests returned null in round"), std::string::npos)
        << failure.what();
  }
}

// With no time, the check of few callers ends after its first round, and the check of many callers does not begin.
TEST(LeakCheck, GivesSlowDesignsFewerCallers) {
  const LeakResult many = check_leaks<SlotMalloc<Fault::none>>(16 << 20, 2048);
  EXPECT_EQ(many.verdict, "checked");
  EXPECT_EQ(many.callers, 2048u);
  const LeakResult none = check_leaks<SlotMalloc<Fault::none>>(16 << 20, 2048, std::chrono::milliseconds(0));
  EXPECT_FALSE(none.complete);
  EXPECT_EQ(none.callers, 1024u);
  EXPECT_EQ(none.rounds, 1u);
  EXPECT_EQ(none.verdict, "partial: 1 of 17 rounds within the time budget");
}

// This allocator records the pools whose invariants are checked, and breaks one if `breaks` is set.
struct Inspected : SlotMalloc<Fault::none> {
  static inline std::vector<std::uint32_t> pools;  // numbers of slots
  static inline bool breaks = false;

  static Inspected create(Arena& arena, const Parameters& parameters) {
    return {SlotMalloc<Fault::none>::create(arena, parameters), static_cast<std::uint32_t>(arena.pool_bytes() / 64)};
  }
  std::string broken_invariant(simt::Stream&) const {
    pools.push_back(slots);
    return breaks ? "planted" : "";
  }
  std::uint32_t slots;
};

TEST(LeakCheck, InspectsEachInstanceThatServedAllRounds) {
  const auto slots = [](std::uint32_t callers) { return (8 * callers * 48 + 0xffff) / 0x10000 * 0x10000 / 64; };
  using Pools = std::vector<std::uint32_t>;
  for (const auto& [budget, pools] :
       {std::pair(std::chrono::milliseconds(0), Pools{slots(1024)}),
        std::pair(std::chrono::milliseconds(std::chrono::hours(1)), Pools{slots(1024), slots(2048)})}) {
    Inspected::pools.clear();
    check_leaks<Inspected>(16 << 20, 2048, budget);
    EXPECT_EQ(Inspected::pools, pools);
    Inspected::breaks = true;
    EXPECT_THROW(check_leaks<Inspected>(16 << 20, 2048, budget), CellFailure);
    Inspected::breaks = false;
  }
}

// One request in a thousand is refused. Refusals are as frequent in late rounds as in early ones.
TEST(LeakCheck, TellsRefusalsFromALeak) {
  const LeakResult result = check_leaks<SlotMalloc<Fault::null_now_and_then>>(16 << 20, 160);
  EXPECT_EQ(result.spurious_nulls, 3u) << "17 rounds of 160 requests";
  EXPECT_EQ(result.verdict,
            "checked: at most 1 of 160 requests returned null in rounds 7 to 23 of allocating and freeing the same "
            "blocks (7.5 KiB per round, pool of 64 KiB), no leak");
}

// Lost memory stays lost, even if no more is lost afterwards. So six nulls in 160 requests count as a leak.
TEST(LeakCheck, TakesManyNullsForALeakEvenIfTheyStayAsMany) {
  try {
    check_leaks<SlotMalloc<Fault::null_often_at_last>>(16 << 20, 160);
    FAIL() << "no leak was found";
  } catch (const CellFailure& failure) {
    EXPECT_EQ(failure.status(), Status::incorrect);
    EXPECT_NE(std::string(failure.what()).find("leak: at most 6, at last "), std::string::npos) << failure.what();
  }
}

// Two warps of every third round are refused. The rounds between are served, so nothing is lost.
TEST(LeakCheck, TakesNullsThatVanishForRefusals) {
  const LeakResult result = check_leaks<SlotMalloc<Fault::null_warps_at_times>>(16 << 20, 160);
  EXPECT_GT(result.spurious_nulls, 64u);
  EXPECT_NE(result.verdict.find("at most 64 of 160"), std::string::npos) << result.verdict;
  EXPECT_NE(result.verdict.find("no leak"), std::string::npos) << result.verdict;
}

// A check without any time is partial, so "checked" is the result of an earlier one.
class SharedLeakFindings : public testing::Test {
 protected:
  template <class A = SlotMalloc<Fault::none>>
  LeakResult check(std::size_t pool_bytes, const RequestProfile& profile, std::chrono::milliseconds budget) {
    test::AllocatorRig rig(test::tested_type<A, CallKernels>(), pool_bytes);
    return LeakCheck(rig.stream(), profile, rig.setting, findings_, budget).run(rig.allocator);
  }
  // Returns the verdict of a cell whose check may take no time.
  template <class A = SlotMalloc<Fault::none>>
  std::string at_once(std::size_t pool_bytes, const RequestProfile& profile) {
    return check<A>(pool_bytes, profile, std::chrono::milliseconds(0)).verdict;
  }
  static RequestProfile requests(std::uint32_t callers, std::uint64_t bytes) {
    return {Geometry::of_callers(callers, 128, 32), RequestSizes::fixed(bytes)};
  }

  LeakFindings findings_;
};

TEST_F(SharedLeakFindings, HoldForPoolsOfOtherSizes) {
  ASSERT_EQ(check(16 << 20, requests(160, 48), std::chrono::hours(1)).verdict, "checked");
  EXPECT_EQ(at_once(1 << 20, requests(160, 48)), "checked");
  EXPECT_EQ(at_once(64 << 20, requests(160, 48)), "checked");
}

TEST_F(SharedLeakFindings, HoldInTheDeviceHeap) {
  ASSERT_EQ(check<CudaMalloc>(64 << 10, requests(160, 48), std::chrono::hours(1)).verdict, "checked");
  EXPECT_EQ(at_once<CudaMalloc>(1 << 20, requests(160, 48)), "checked");
  EXPECT_TRUE(at_once<CudaMalloc>(64 << 10, requests(160, 64)).starts_with("partial: 1 of "));
}

TEST_F(SharedLeakFindings, DoNotHoldForOtherRequests) {
  ASSERT_EQ(check(16 << 20, requests(160, 48), std::chrono::hours(1)).verdict, "checked");
  EXPECT_TRUE(at_once(16 << 20, requests(160, 64)).starts_with("partial: 1 of "));
  EXPECT_TRUE(at_once(16 << 20, requests(128, 48)).starts_with("partial: 1 of "));
  RequestProfile one_lane = requests(160, 48);
  one_lane.geometry = Geometry::of_callers(160, 128, 1);
  EXPECT_TRUE(at_once(16 << 20, one_lane).starts_with("partial: 1 of "));
}

TEST_F(SharedLeakFindings, TellDrawnSizesApart) {
  const Geometry geometry = Geometry::of_callers(160, 128, 32);
  const RequestProfile drawn{geometry, RequestSizes::uniform(4, 48, 160, 7)};
  const RequestProfile others{geometry, RequestSizes::uniform(4, 48, 160, 8)};
  ASSERT_EQ(check(16 << 20, drawn, std::chrono::hours(1)).verdict, "checked");
  EXPECT_EQ(at_once(16 << 20, drawn), "checked");
  EXPECT_TRUE(at_once(16 << 20, others).starts_with("partial: 1 of "));
}

TEST_F(SharedLeakFindings, TakeManyCallersForTheNextPowerOfTwoBelow) {
  ASSERT_EQ(check(64 << 20, requests(5000, 48), std::chrono::hours(1)).callers, 4096u);
  EXPECT_EQ(at_once(64 << 20, requests(7000, 48)), "checked");
}

TEST(LeakCheck, FindsALeakInEachCell) {
  LeakFindings findings;
  for (int cell = 0; cell < 2; ++cell) {
    test::AllocatorRig rig(test::tested_type<SlotMalloc<Fault::leak_every_third>, CallKernels>(), 16 << 20);
    const RequestProfile profile{Geometry::of_callers(160, 128, 32), RequestSizes::fixed(48)};
    LeakCheck check(rig.stream(), profile, rig.setting, findings, std::chrono::hours(1));
    EXPECT_THROW(check.run(rig.allocator), CellFailure) << "cell " << cell;
  }
}

TEST(LeakCheck, IsWaivedWhereNothingIsEverFreed) {
  EXPECT_EQ(check_leaks<AtomicMalloc>(1 << 20, 10).verdict, "waived: AtomicMalloc never frees");
}

TEST(LeakCheck, IsWaivedWhereOneRoundDoesNotFit) {
  const LeakResult result = check_leaks<SlotMalloc<Fault::null_every_third>>(1 << 20, 100);
  EXPECT_EQ(result.verdict, "waived: the cell's own pool cannot serve 100 of its requests at once");
}

}  // namespace
}  // namespace allocbench
