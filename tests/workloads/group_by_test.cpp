// These tests check the keys of group_by, the host's groups, and the results of all methods over several allocators.
#include "workloads/group_by/group_by.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/random_walk/crw_reworked.hpp"
#include "allocators/scatteralloc/scatteralloc_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/group_by/kernels.hpp"
#include "workloads/group_by/keys.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/occupancy/occupancy.hpp"
#include "workloads/support/occupancy/occupancy_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<GroupBy, A, group::GroupByKernels, OccupancyKernels, CallKernels>;

const char* const inputs[] = {"gauss", "gauss_narrow", "few", "uniform", "zipf", "one"};

GroupInput input(const char* kind, std::uint32_t keys, std::uint64_t seed = 3) { return {kind, keys, 1, seed}; }

std::size_t distinct(const std::vector<std::uint32_t>& keys, std::uint32_t shift = 0) {
  std::set<std::uint32_t> found;
  for (const std::uint32_t key : keys) found.insert(key >> shift);
  return found.size();
}

TEST(GroupKeys, DependOnTheSeedAlone) {
  for (const char* kind : inputs) {
    EXPECT_EQ(group_keys(input(kind, 70'000)), group_keys(input(kind, 70'000))) << kind;
    if (std::string(kind) != "one") {
      EXPECT_NE(group_keys(input(kind, 1000)), group_keys(input(kind, 1000, 4))) << kind;
    }
  }
  EXPECT_THROW(group_keys(input("none", 10)), std::invalid_argument);
}

TEST(GroupKeys, OfGaussHaveItsMeanAndSpread) {
  const std::vector<std::uint32_t> keys = group_keys(input("gauss", 100'000));
  const double mean = std::accumulate(keys.begin(), keys.end(), 0.0) / 1e5;
  EXPECT_NEAR(mean, 0x1p31, 0x1p28 * 0.02);
  const auto within = std::count_if(
      keys.begin(), keys.end(), [](std::uint32_t key) { return std::abs(static_cast<double>(key) - 0x1p31) < 0x1p28; });
  EXPECT_NEAR(static_cast<double>(within), 68'270, 700);
}

TEST(GroupKeys, HaveTheNumberOfGroupsThatTheyAreMadeFor) {
  EXPECT_EQ(distinct(group_keys(input("one", 1000))), 1u);
  EXPECT_EQ(distinct(group_keys(input("gauss_narrow", 10'000)), 24), 2u);
  EXPECT_GT(distinct(group_keys(input("gauss_narrow", 10'000))), 9'000u);
  EXPECT_GT(distinct(group_keys(input("gauss", 10'000)), 24), 60u);
  EXPECT_NEAR(static_cast<double>(distinct(group_keys(input("few", 200'000)))), 1900, 400);
  EXPECT_EQ(distinct(group_keys(input("uniform", 10'000)), 24), 256u);
  EXPECT_LT(distinct(group_keys(input("zipf", 10'000))), 6'000u);
}

TEST(GroupOracle, CountsListsAndPagesOfEveryPass) {
  // The first bytes are 1, 1, 1, 2. The first two keys are equal.
  const ExpectedGroups expected = expected_groups({0x01020304, 0x01020304, 0x01020404, 0x02000000}, 2);
  EXPECT_EQ(expected.lists[0], 2u);
  EXPECT_EQ(expected.pages[0], 3u);
  EXPECT_EQ(expected.lists[1], 2u);
  EXPECT_EQ(expected.lists[2], 3u);
  EXPECT_EQ(expected.pages[2], 3u);
  EXPECT_EQ(expected.lists[3], 3u);
  EXPECT_EQ(expected.groups.count, 3u);
  EXPECT_NE(expected_groups({1, 1, 2}, 2).groups, expected_groups({1, 2, 1}, 2).groups) << "other rows";
}

// There are enough rows for several cores. Each core counts the lists that begin in its part.
TEST(GroupOracle, CountsAListOnceWhereItReachesIntoTheNextPart) {
  constexpr std::uint32_t rows = 1 << 18;
  constexpr std::uint32_t records_per_page = 30;
  for (const std::vector<std::uint32_t>& keys :
       {std::vector<std::uint32_t>(rows, 7), group_keys({"few", rows, 1, 7}), group_keys({"uniform", rows, 1, 7})}) {
    const ExpectedGroups expected = expected_groups(keys, records_per_page);
    for (std::uint32_t pass = 0; pass < 4; ++pass) {
      std::map<std::uint32_t, std::uint64_t> lists;
      for (const std::uint32_t key : keys) ++lists[key >> (24 - 8 * pass)];
      std::uint64_t pages = 0;
      for (const auto& [prefix, records] : lists) pages += (records - 1) / records_per_page + 1;
      EXPECT_EQ(expected.lists[pass], lists.size());
      EXPECT_EQ(expected.pages[pass], pages);
    }
    EXPECT_EQ(expected.groups.count, expected.lists[3]);
  }
}

TEST(GroupOracle, ComparesRowByRow) {
  const ExpectedGroups expected = expected_groups({5, 7, 5}, 30);
  const auto record = [](std::uint64_t key, std::uint64_t row) { return key << 32 | row; };
  EXPECT_EQ(grouping_problem(expected, {record(7, 1), record(5, 2), record(5, 0)}, {9, 4, 4}), "");
  EXPECT_EQ(grouping_problem(expected, {record(7, 1), record(5, 2), record(5, 0)}, {9, 4, 3}), "key 5 is in two lists");
  EXPECT_EQ(grouping_problem(expected, {record(7, 1), record(5, 2), record(5, 0)}, {4, 4, 4}),
            "keys 5 and 7 share a list");
  EXPECT_EQ(grouping_problem(expected, {record(7, 1), record(5, 2), record(5, 2)}, {9, 4, 4}),
            "a record is missing, or there twice");
  EXPECT_EQ(grouping_problem(expected, {record(7, 1)}, {9}), "1 records instead of 3");
}

GroupBy::Parameters small(const char* kind, const char* method, std::uint32_t keys = 800) {
  GroupBy::Parameters parameters;
  parameters.keys = keys;
  parameters.page_bytes = 64;  // room for 6 records
  parameters.input = kind;
  parameters.method = method;
  return parameters;
}

template <class A>
void group_all_inputs(const char* method, const typename A::Parameters& allocator, std::size_t pool_bytes) {
  for (const char* kind : inputs) {
    GroupBy::Parameters parameters = small(kind, method);
    if (A::traits.name == "scatteralloc_reworked") parameters.free_share = 1;  // filling its pool takes seconds here
    Rig<A> rig(parameters, pool_bytes, allocator);
    EXPECT_EQ(rig.sample(), "") << kind;
    EXPECT_EQ(rig.sample(), "") << kind << ": again on the same heap";
  }
}
TEST(GroupBy, IsExactByTailsOverCoRW) {
  group_all_inputs<CollaborativeRandomWalkReworked>("tails", {.page_bytes = 64}, 1 << 19);
}
TEST(GroupBy, IsExactByRunsOverCoRW) {
  group_all_inputs<CollaborativeRandomWalkReworked>("runs", {.page_bytes = 64}, 1 << 19);
}
TEST(GroupBy, IsExactByTailsOverCRW) {
  group_all_inputs<ClusteredRandomWalkReworked>("tails", {{.page_bytes = 64}}, 1 << 19);
}
TEST(GroupBy, IsExactByRunsOverScatterAlloc) { group_all_inputs<ScatterAllocReworked>("runs", {}, 1 << 20); }
TEST(GroupBy, IsExactByCountingAndWriting) { group_all_inputs<AtomicMalloc>("counts", {}, 1024); }
TEST(GroupBy, IsExactBySorting) { group_all_inputs<AtomicMalloc>("sort", {}, 1024); }

// Every pass has long, medium and short lists, because most records have the same key.
TEST(GroupBy, SplitsLongMediumAndShortLists) {
  for (const char* method : {"tails", "runs"}) {
    for (const std::uint64_t page_bytes : {32u, 1024u}) {
      GroupBy::Parameters parameters = small("zipf", method, 4800);
      parameters.page_bytes = page_bytes;
      parameters.exponent = 4;  // seven eighths of the records have the first key
      parameters.free_share = 1;
      Rig<AtomicMalloc> rig(parameters, 64 << 20);
      EXPECT_EQ(rig.sample(), "") << method << " " << page_bytes;
    }
  }
}

TEST(GroupBy, OfFewKeys) {
  for (const char* method : {"tails", "runs"}) {
    for (const std::uint32_t keys : {1u, 2u, 31u, 33u}) {
      Rig<CollaborativeRandomWalkReworked> rig(small("gauss", method, keys), 64 << 10, {.page_bytes = 64});
      EXPECT_EQ(rig.sample(), "") << method << " " << keys;
    }
  }
}

TEST(GroupBy, CountsItsMallocs) {
  Rig<CollaborativeRandomWalkReworked> rig(small("uniform", "tails"), 1 << 19, {.page_bytes = 64});
  EXPECT_EQ(rig.sample(), "");
  const ExpectedGroups expected = expected_groups(group_keys({"uniform", 800, 1, 7}), 6);
  EXPECT_EQ(rig.counter("mallocs"), expected.pages[0] + expected.pages[1] + expected.pages[2] + expected.pages[3]);
}

TEST(GroupBy, ReportsOutOfMemoryAndFreesWhatItHas) {
  for (const char* method : {"tails", "runs"}) {
    for (const std::size_t pages : {64u, 256u, 1024u, 1600u}) {
      Rig<CollaborativeRandomWalkReworked> rig(small("uniform", method), pages * 64, {.page_bytes = 64});
      EXPECT_NE(rig.sample().find("nulls"), std::string::npos) << method << " " << pages;
      EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    }
  }
}

// No page is in use before the sample. So an allocator that gets all its pages back serves the same pages again.
TEST(GroupBy, LosesNoPageWhenMemoryRunsOut) {
  for (const char* method : {"tails", "runs"}) {
    GroupBy::Parameters parameters = small("uniform", method);
    parameters.free_share = 1;
    Rig<test::SlotMalloc<test::Fault::none>> rig(parameters, 600 * 64);
    for (int round = 0; round < 3; ++round) EXPECT_NE(rig.sample().find("nulls"), std::string::npos);
    Occupants everyone(rig.stream(), 600);
    everyone.enter(rig.allocator, 64, PageSet::first(600));
    EXPECT_EQ(everyone.present(), 600u) << method;
  }
}

TEST(GroupBy, FindsPagesWithTwoOwners) {
  for (const char* method : {"tails", "runs"}) {
    GroupBy::Parameters parameters = small("uniform", method);
    parameters.free_share = 1;
    Rig<test::SlotMalloc<test::Fault::double_hand_out>> doubled(parameters, 1 << 19);
    EXPECT_NE(doubled.sample(), "") << method;
    Rig<test::SlotMalloc<test::Fault::none>> correct(parameters, 1 << 19);
    EXPECT_EQ(correct.sample(), "") << method;
  }
}

// Two passes of single records need two pages for each of 800 keys. They need fewer pages if the second pass frees each
// page of the first pass as soon as it has read the page.
TEST(GroupBy, EarlyFreesNeedLessMemory) {
  for (const char* method : {"tails", "runs"}) {
    for (const bool early : {false, true}) {
      GroupBy::Parameters parameters = small("uniform", method);
      parameters.free_share = 1;
      parameters.frees = early ? "early" : "after";
      Rig<test::SlotMalloc<test::Fault::none>> rig(parameters, 1400 * 64);
      EXPECT_EQ(rig.sample() == "", early) << method;
      Occupants everyone(rig.stream(), 1400);
      everyone.enter(rig.allocator, 64, PageSet::first(1400));
      EXPECT_EQ(everyone.present(), 1400u) << method << ": every page came back";
    }
  }
}

// Lists are long, medium and short, with pages of one slice and of several.
TEST(GroupBy, IsExactWithEarlyFreesAndTablesOfTheAllocator) {
  for (const char* method : {"tails", "runs"}) {
    for (const std::uint64_t page_bytes : {32u, 1024u}) {
      GroupBy::Parameters parameters = small("zipf", method, 4800);
      parameters.page_bytes = page_bytes;
      parameters.exponent = 2;
      parameters.free_share = 1;
      parameters.frees = "early";
      parameters.table_bytes = 6144;
      Rig<ScatterAllocReworked> rig(parameters, page_bytes == 32 ? 2 << 20 : 12 << 20);
      EXPECT_EQ(rig.sample(), "") << method << " " << page_bytes;
      EXPECT_EQ(rig.sample(), "") << method << ": again on the same heap";
    }
  }
}

TEST(GroupBy, CountsTheRequestsForTables) {
  GroupBy::Parameters parameters = small("one", "tails", 4800);
  parameters.free_share = 1;
  Rig<AtomicMalloc> without(parameters, 8 << 20);
  EXPECT_EQ(without.sample(), "");
  parameters.table_bytes = 6144;
  Rig<AtomicMalloc> with(parameters, 8 << 20);
  EXPECT_EQ(with.sample(), "");
  EXPECT_EQ(with.counter("mallocs"), without.counter("mallocs") + 4) << "one long list in every pass";
  EXPECT_EQ(with.operations("pass2"), without.operations("pass2") + 2);
}

TEST(GroupBy, ReportsTablesThatTheAllocatorRefuses) {
  GroupBy::Parameters parameters = small("one", "tails", 4800);
  parameters.free_share = 1;
  parameters.table_bytes = 1 << 16;
  for (const std::size_t pool_bytes :
       {std::size_t{1} << 14, std::size_t{192} << 10}) {  // memory runs out in the first pass, or later
    Rig<AtomicMalloc> rig(parameters, pool_bytes);
    EXPECT_NE(rig.sample().find("nulls"), std::string::npos);
  }
  parameters.table_bytes = 4080;
  EXPECT_THROW((test::why_unsupported<GroupBy, AtomicMalloc>(parameters)), std::invalid_argument);
  parameters.table_bytes = 6144;
  EXPECT_NE((test::why_unsupported<GroupBy, CollaborativeRandomWalkReworked>(parameters, 1 << 20, {.page_bytes = 64})),
            "");
}

TEST(GroupBy, IsExactWithEarlyFreesUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    for (const char* kind : {"few", "one", "zipf"}) {
      GroupBy::Parameters parameters = small(kind, seed % 2 == 0 ? "tails" : "runs", 300);
      parameters.frees = "early";
      Rig<CollaborativeRandomWalkReworked> rig(parameters, 256 << 10, {.page_bytes = 64}, seed);
      ASSERT_EQ(rig.sample(), "") << kind << ", seed " << seed;
    }
  }
}

TEST(GroupBy, IsExactUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    for (const char* kind : {"few", "one", "zipf"}) {
      GroupBy::Parameters parameters = small(kind, seed % 2 == 0 ? "tails" : "runs", 300);
      Rig<CollaborativeRandomWalkReworked> rig(parameters, 256 << 10, {.page_bytes = 64}, seed);
      ASSERT_EQ(rig.sample(), "") << kind << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace allocbench
