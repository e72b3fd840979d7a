// These tests check how pages are put into use before a measurement: page sets, marked pages, and pools filled by
// malloc.
#include "workloads/support/occupancy/occupancy.hpp"

#include <gtest/gtest.h>

#include <set>

#include "allocators/comb/comb.hpp"
#include "allocators/ouroboros/ouroboros_c.hpp"
#include "allocators/ouroboros/ouroboros_p.hpp"
#include "allocators/random_walk/rw_bm_reworked.hpp"
#include "allocators/random_walk/rw_malloc_reworked.hpp"
#include "allocators/random_walk/rw_reworked.hpp"
#include "allocators/scatteralloc/scatteralloc.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "tests/workloads/allocator_rig.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/occupancy/occupancy_kernels.hpp"
#include "workloads/support/verification/call_counter.hpp"
#include "workloads/support/verification/content_check.hpp"

namespace allocbench {
namespace {

// Returns the blocks that `callers` threads get when they request `bytes` each. Nothing is freed.
std::vector<RecordedBlock> blocks_of(test::AllocatorRig& rig, std::uint32_t callers, std::uint64_t bytes) {
  const CallerRequests requests(rig.stream(), Geometry::of_callers(callers, 32, 32), RequestSizes::fixed(bytes));
  requests.alloc(rig.allocator);
  return requests.blocks();
}

TEST(PageSet, HasExactlyTheChosenNumbersAndOthersForOtherSeeds) {
  for (const std::uint32_t count : {1u, 2u, 3u, 5u, 32u, 100u, 1000u, 4096u}) {
    for (const std::uint32_t chosen : {0u, 1u, count / 2, count}) {
      const PageSet subset = PageSet::by_chance(count, chosen, 1);
      const PageSet other = PageSet::by_chance(count, chosen, 2);
      std::uint32_t members = 0;
      std::uint32_t differ = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        members += subset(i);
        differ += subset(i) != other(i);
      }
      EXPECT_EQ(members, chosen) << count;
      if (count >= 100 && chosen == count / 2) {
        EXPECT_GT(differ, count / 4);
      }
    }
  }
}

TEST(PageSet, SpreadsOverTheWholeRange) {
  // A tenth of 2^16 numbers is chosen. Each 64th of the range gets 102 of them, within five standard deviations.
  const PageSet subset = PageSet::by_chance(1 << 16, 6554, 3);
  for (std::uint32_t part = 0; part < 64; ++part) {
    std::uint32_t members = 0;
    for (std::uint32_t i = 0; i < 1024; ++i) members += subset(part * 1024 + i);
    EXPECT_NEAR(members, 102.4, 48) << part;
  }
}

template <class A>
class OccupancyTest : public ::testing::Test {};
using PageAllocators =
    ::testing::Types<RandomWalkReworked, RandomWalkBitmapReworked, RandomWalkMallocReworked, SimpleQueue>;
TYPED_TEST_SUITE(OccupancyTest, PageAllocators);

TYPED_TEST(OccupancyTest, LeavesExactlyTheOtherPagesFree) {
  for (const std::uint32_t pages : {40u, 1000u}) {
    typename TypeParam::Parameters parameters;
    parameters.page_bytes = 64;
    if constexpr (requires { parameters.scarce_share; }) parameters.scarce_share = 0.0005;
    test::AllocatorRig rig(test::tested_type<TypeParam, CallKernels, OccupancyKernels>(), pages * 64,
                           test::parameter_values(parameters));
    const AllocatorHandle& allocator = rig.allocator;
    const auto free_pages = [&] {
      const std::vector<RecordedBlock> blocks = blocks_of(rig, pages, 64);
      return std::count_if(blocks.begin(), blocks.end(), [](const RecordedBlock& block) { return block.address != 0; });
    };
    const std::uint32_t used = pages / 5;
    for (const PageSet& is_used : {PageSet::by_chance(pages, used, 9), PageSet::first(used)}) {
      if (allocator.type().marks_pages()) {
        allocator.occupy(rig.stream(), is_used);
        EXPECT_EQ(allocator.page_count(), pages);
        EXPECT_EQ(free_pages(), pages - used);
        allocator.reset(rig.stream());
      }
      Occupants occupants(rig.stream(), pages);
      occupants.enter(allocator, 64, is_used);
      EXPECT_EQ(occupants.blocks().size(), used);
      occupants.leave(allocator, is_used);
      EXPECT_EQ(occupants.blocks().size(), 0u);
      EXPECT_EQ(free_pages(), pages);
      EXPECT_EQ(allocator.broken_invariant(rig.stream()), "");
      allocator.reset(rig.stream());
    }
  }
}

// Serves every request or none, and counts the requests in the first word of its pool.
template <bool serves>
struct CountingMalloc {
  using Parameters = NoParameters;
  static constexpr Traits traits{
      .name = "counting_malloc", .display_name = "CountingMalloc", .paper = "none", .summary = "counts requests"};

  std::uint32_t* requests;

  static CountingMalloc create(Arena& arena, const Parameters&) {
    CountingMalloc result{reinterpret_cast<std::uint32_t*>(arena.pool().base)};
    *result.requests = 0;
    return result;
  }
  void reset(simt::Stream&) { *requests = 0; }
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    thread.atomic(*requests).fetch_add(1u, simt::relaxed);
    return serves ? requests : nullptr;
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}
};

constexpr std::uint32_t wanted = 64 * 1024;

// Returns the number of requests that Occupants make. `present` is the number of blocks that they must get.
template <bool serves>
std::uint32_t requests_made(std::uint32_t present, std::size_t together = Occupants::most_together) {
  test::AllocatorRig rig(test::tested_type<CountingMalloc<serves>, OccupancyKernels>(), 64);
  Occupants occupants(rig.stream(), wanted, together);
  occupants.enter(rig.allocator, 64, PageSet::first(wanted));
  EXPECT_EQ(occupants.present(), present);
  return *reinterpret_cast<const std::uint32_t*>(rig.pool().base);
}

TEST(Occupancy, StopsAskingOnceManyWereRefused) {
  EXPECT_EQ(requests_made<true>(wanted), wanted);
  const std::uint32_t asked = requests_made<false>(0);
  // Threads that looked before enough requests were refused still request.
  EXPECT_GE(asked, OccupyKernel::enough_refusals);
  EXPECT_LT(asked, wanted / 2);
}

TEST(Occupancy, StopsAskingInLaterLaunches) {
  EXPECT_EQ(requests_made<true>(wanted, 1000), wanted);
  const std::uint32_t asked = requests_made<false>(0, 2000);
  EXPECT_GE(asked, OccupyKernel::enough_refusals);
  EXPECT_LE(asked, 2000u) << "enough were refused in the first launch";
}

// In both fillings, all requests are refused. The second filling starts from a copy of the first.
TEST(Occupancy, StopsAskingWhereAnotherPoolWasFull) {
  test::AllocatorRig rig(test::tested_type<CountingMalloc<false>, OccupancyKernels>(), 64);
  const auto word_after = [&](std::uint32_t count) {
    rig.allocator.reset(rig.stream());
    Occupants(rig.stream(), count, 2000).enter(rig.allocator, 64, PageSet::first(count));
    return *reinterpret_cast<const std::uint32_t*>(rig.pool().base);
  };
  const std::uint32_t asked = word_after(2000);
  EXPECT_GE(asked, OccupyKernel::enough_refusals);
  EXPECT_EQ(word_after(6000), asked);
}

// Each request adds 1 to the word. A restored copy overwrites the word.
class FilledPoolTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t before = 1000;

  std::uint32_t& word() { return *reinterpret_cast<std::uint32_t*>(rig.pool().base); }
  void reset() {
    allocator.reset(rig.stream());
    word() = before;
  }
  // Returns the word after `count` requests.
  std::uint32_t word_after(std::uint32_t count, std::uint64_t bytes, std::size_t together = Occupants::most_together) {
    Occupants(rig.stream(), count, together).enter(allocator, bytes, PageSet::first(count));
    return word();
  }
  void fill_and_reset() {
    allocator.reset(rig.stream());
    EXPECT_EQ(word_after(64, 64), 64u);
    reset();
  }

  test::AllocatorRig rig{test::tested_type<CountingMalloc<true>, OccupancyKernels>(), 64};
  const AllocatorHandle& allocator = rig.allocator;
};

TEST_F(FilledPoolTest, ServesTheNextCellThatStartsFresh) {
  fill_and_reset();
  Occupants occupants(rig.stream(), 64);
  occupants.enter(allocator, 64, PageSet::first(16));
  EXPECT_EQ(word(), 64u);
  EXPECT_EQ(occupants.blocks(), std::vector<void*>(16, rig.pool().base));
}

TEST_F(FilledPoolTest, ServesNoOtherRequests) {
  fill_and_reset();
  EXPECT_EQ(word_after(32, 64), before + 32);
  fill_and_reset();
  EXPECT_EQ(word_after(64, 16), before + 64);
}

TEST_F(FilledPoolTest, IsKeptBesideOthers) {
  fill_and_reset();
  EXPECT_EQ(word_after(32, 64), before + 32);
  reset();
  EXPECT_EQ(word_after(64, 64), 64u);
  reset();
  EXPECT_EQ(word_after(32, 64), before + 32);  // value when that pool was filled
}

TEST_F(FilledPoolTest, BeginsWithTheWholeLaunchesOfAnother) {
  allocator.reset(rig.stream());
  EXPECT_EQ(word_after(40, 64, 16), 40u);
  reset();
  EXPECT_EQ(word_after(64, 64, 16), 64u) << "32 were put back, 32 were made";
  reset();
  EXPECT_EQ(word_after(50, 64, 16), 50u) << "48 were put back";
  reset();
  EXPECT_EQ(word_after(20, 64, 16), before + 20) << "of the first launch alone there is no copy";
  reset();
  EXPECT_EQ(word_after(66, 64, 32), before + 66) << "its launches are others";
  reset();
  EXPECT_EQ(word_after(66, 32, 16), before + 66);
}

TEST_F(FilledPoolTest, DoesNotUndoWhatHappenedSinceTheReset) {
  fill_and_reset();
  Occupants occupants(rig.stream(), 64);
  occupants.enter(allocator, 64, PageSet::first(64));
  occupants.leave(allocator, PageSet::first(64));
  occupants.enter(allocator, 64, PageSet::first(64));
  EXPECT_EQ(word(), 128u);
}

TEST_F(FilledPoolTest, ServesObservedCalls) {
  fill_and_reset();
  Occupants(rig.stream(), 64).enter(allocator.observed({}, {}), 64, PageSet::first(64));
  EXPECT_EQ(word(), 64u);
}

TEST_F(FilledPoolTest, DoesNotReplaceCallsThatAreCountedOrRefused) {
  fill_and_reset();
  CallCounter counter(rig.stream(), 64);
  Occupants(rig.stream(), 64).enter(allocator.observed(counter.start(), {}), 64, PageSet::first(64));
  EXPECT_EQ(word(), before + 64);
  fill_and_reset();
  Occupants(rig.stream(), 64).enter(allocator.failing(FailureRule::with_chance(1, 0)), 64, PageSet::first(64));
  EXPECT_EQ(word(), before);
}

TEST_F(FilledPoolTest, IsForgottenAfterAFailure) {
  fill_and_reset();
  allocator.forget_filled();
  EXPECT_EQ(word_after(64, 64), before + 64);
}

template <class A>
class FilledPoolOf : public ::testing::Test {};
using SlowToFill = ::testing::Types<ScatterAlloc, OuroborosPVL, OuroborosCS, RandomWalkMallocReworked, Comb>;
TYPED_TEST_SUITE(FilledPoolOf, SlowToFill);

// A heap that was restored from a copy serves as much as a heap that was filled, and serves no block twice.
TYPED_TEST(FilledPoolOf, IsAsGoodAsAFillingOfItsOwn) {
  test::AllocatorRig rig(test::tested_type<TypeParam, CallKernels, OccupancyKernels>(), 8 << 20);
  const AllocatorHandle& allocator = rig.allocator;
  for (const std::uint32_t count : {300u, 512u, 512u}) {  // the second filling begins with launches of the first
    const PageSet used = PageSet::by_chance(count, count / 2, 5);
    allocator.reset(rig.stream());
    Occupants occupants(rig.stream(), count, 128);
    occupants.enter(allocator, 64, used);
    ASSERT_EQ(occupants.present(), count / 2);
    const std::vector<RecordedBlock> blocks = blocks_of(rig, count / 2, 64);
    std::set<std::uint64_t> addresses;
    for (const RecordedBlock& block : blocks) addresses.insert(block.address);
    for (void* const block : occupants.blocks()) addresses.insert(reinterpret_cast<std::uint64_t>(block));
    EXPECT_EQ(addresses.size(), count);
    EXPECT_FALSE(addresses.contains(0));
    EXPECT_EQ(allocator.broken_invariant(rig.stream()), "");
  }
}

// The ledger knows the blocks that were put back, so their frees are checked like all others.
TYPED_TEST(FilledPoolOf, HasCheckedContents) {
  constexpr std::size_t pool_bytes = 8 << 20;
  test::AllocatorRig rig(test::tested_type<TypeParam, CallKernels, OccupancyKernels>(), pool_bytes);
  for (const auto& [count, overwritten] :
       {std::pair(300u, false), std::pair(400u, true), std::pair(512u, false), std::pair(512u, true)}) {
    const PageSet used = PageSet::by_chance(count, count / 2, 5);
    rig.allocator.reset(rig.stream());
    const ContentCheck contents(rig.stream(), count, rig.rules);
    const AllocatorHandle checked = rig.allocator.observed({}, contents.ledger());
    Occupants occupants(rig.stream(), count, 128);
    occupants.enter(checked, 64, used);
    if (overwritten) static_cast<std::uint32_t*>(occupants.blocks()[7])[5] ^= 1u;
    occupants.leave(checked, used);
    const std::string problem = contents.problem();
    EXPECT_EQ(problem.empty(), !overwritten) << problem;
  }
}

TEST(Occupancy, StaysWhereTheAllocatorIsResetAfterwards) {
  constexpr std::uint32_t count = 64;
  test::AllocatorRig rig(test::tested_type<SimpleQueue, CallKernels, OccupancyKernels>(), count * 64,
                         test::parameter_values(SimpleQueue::Parameters{.page_bytes = 64}));
  const PageSet used = PageSet::first(count / 2);
  Occupants occupants(rig.stream(), count);
  occupants.enter(rig.allocator, 64, used);
  occupants.leave(rig.allocator.reset_afterwards(), used);
  EXPECT_EQ(occupants.present(), count / 2);
  occupants.leave(rig.allocator, used);
  EXPECT_EQ(occupants.present(), 0u);
}

TEST(Occupancy, FirstFitLeavesOneCluster) {
  test::AllocatorRig rig(test::tested_type<RandomWalkMallocReworked, CallKernels>(), 64 * 64,
                         test::parameter_values(RandomWalkMallocReworked::Parameters{.page_bytes = 64}));
  rig.allocator.occupy(rig.stream(), PageSet::first(32));
  EXPECT_EQ(blocks_of(rig, 1, 32 * 64).front().address, rig.rules.pool_begin + 32 * 64);
}

}  // namespace
}  // namespace allocbench
