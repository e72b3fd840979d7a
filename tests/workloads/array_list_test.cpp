// These tests run array_list with all three methods under many schedules, and check the messages about wrong lists.
#include "workloads/array_list/array_list.hpp"

#include <gtest/gtest.h>

#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/array_list/kernels.hpp"
#include "workloads/support/verification/list_check.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;

template <class A>
using Rig = test::WorkloadRig<ArrayListGrowth, A, ArrayListKernels>;

ArrayListGrowth::Parameters small(const char* method, std::uint32_t item_bytes) {
  ArrayListGrowth::Parameters parameters;
  parameters.threads = 100;
  parameters.threads_per_block = 40;
  parameters.iterations = 3;
  parameters.item_bytes = item_bytes;
  parameters.method = method;
  return parameters;
}

TEST(ArrayListGrowth, IsRightUnderManySchedules) {
  for (const char* method : {"malloc", "grow", "grow_local"}) {
    for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
      const std::uint32_t item_bytes = seed % 2 == 0 ? 4 : 8;
      Rig<KmaReworked> rig(small(method, item_bytes), 1 << 18, {.superblock_bytes = 4096}, seed);
      ASSERT_EQ(rig.sample(), "") << method << ", seed " << seed;
      ASSERT_EQ(rig.sample(), "") << method << ", seed " << seed << ": again";
      EXPECT_EQ(rig.operations("alloc"), 300u);
    }
  }
}

TEST(ArrayListGrowth, AsksOncePerBlockOfThreads) {
  const ArrayListGrowth::Parameters list = small("grow_local", 8);
  EXPECT_EQ(list.requests(), 9u);
  EXPECT_EQ(list.request_bytes(), 16u + 40 * 8);
  EXPECT_EQ(small("malloc", 8).requests(), 300u);
  EXPECT_EQ(small("malloc", 8).request_bytes(), 8u);
}

std::vector<std::pair<std::string, std::uint64_t>> phases_of(const char* method) {
  Rig<KmaReworked> rig(small(method, 8), 1 << 18, {.superblock_bytes = 4096});
  EXPECT_EQ(rig.sample(), "") << method;
  std::vector<std::pair<std::string, std::uint64_t>> result;
  for (const Phase& phase : rig.timer->phases()) result.emplace_back(phase.name, phase.operations);
  return result;
}

// There are 100 threads in three blocks, and each takes three items. With grow and grow_local, each block looks up one
// element. grow_local frees 9 chunks, and the other methods free 300.
TEST(ArrayListGrowth, TimesAppendingGettingAndClearing) {
  using Phases = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(phases_of("malloc"), (Phases{{"alloc", 300}, {"clear", 300}}));
  EXPECT_EQ(phases_of("grow"), (Phases{{"alloc", 300}, {"get", 3}, {"clear", 300}}));
  EXPECT_EQ(phases_of("grow_local"), (Phases{{"alloc", 300}, {"get", 3}, {"clear", 9}}));
}

TEST(ArrayListGrowth, AsksForEveryItemOfGrow) {
  const ArrayListGrowth::Parameters list = small("grow", 8);
  EXPECT_EQ(list.requests(), 300u);
  EXPECT_EQ(list.request_bytes(), 16u + 8);
}

TEST(ArrayListGrowth, IsUnsupportedWhereAChunkIsTooLarge) {
  const auto why = [](const ArrayListGrowth::Parameters& parameters) {
    return test::why_unsupported<ArrayListGrowth, KmaReworked>(parameters, 1 << 18, {.superblock_bytes = 512});
  };
  EXPECT_NE(why(small("grow_local", 8)), "");
  EXPECT_EQ(why(small("malloc", 8)), "");
}

TEST(ArrayListGrowth, CountsNullsOfAllThreadsOfABlock) {
  Rig<KmaReworked> rig(small("grow_local", 8), 4 * 1024, {.superblock_bytes = 1024});
  EXPECT_NE(rig.sample().find("nulls"), std::string::npos);
}

TEST(ArrayListGrowth, FindsItemsThatOverlap) {
  ArrayListGrowth::Parameters parameters = small("malloc", 32);
  Rig<SlotMalloc<Fault::overlap>> rig(parameters, 1 << 16);
  EXPECT_NE(rig.sample().find("overlapping"), std::string::npos);
}

TEST(ArrayListGrowth, RunsWhereFreesAreInBulk) {
  for (const char* method : {"malloc", "grow_local"}) {
    Rig<FdgMallocReworkedOnKma> rig(small(method, 4), 8 << 20, {.most_warps = 64});
    EXPECT_EQ(rig.sample(), "") << method;
    EXPECT_EQ(rig.sample(), "") << method;
  }
}

// Two blocks of two threads have a chunk each, with two items of 8 bytes.
std::vector<ListChunk> two_chunks() { return {{0x1000, 4}, {0x2000, 4}}; }
std::vector<ListItem> their_items() {
  return {{0x2000, 0, 0, 0, true}, {0x2008, 1, 0, 0, true}, {0x1000, 2, 1, 0, true}, {0x1008, 3, 1, 0, true}};
}

TEST(ListCheck, AcceptsChunksOfTheirItemsInAnyOrder) { EXPECT_EQ(list_problem(two_chunks(), their_items(), 2), ""); }

TEST(ListCheck, FindsWhatIsWrong) {
  std::vector<ListItem> items = their_items();
  items[1].intact = false;
  EXPECT_EQ(list_problem(two_chunks(), items, 2), "item 0 of thread 1 was overwritten");
  items = their_items();
  items[3].address = 0x1010;
  EXPECT_EQ(list_problem(two_chunks(), items, 2), "a chunk of the list holds elements that no thread asked for");
  items = their_items();
  items[3].iteration = 1;
  EXPECT_EQ(list_problem(two_chunks(), items, 2), "item 1 of thread 3 shares a chunk with item 0 of thread 2");
  items = their_items();
  std::swap(items[2].address, items[3].address);
  EXPECT_EQ(list_problem(two_chunks(), items, 2), "item 0 of thread 2 comes after that of thread 3");
  items = their_items();
  items.push_back({0x3000, 4, 2, 0, true});
  EXPECT_EQ(list_problem(two_chunks(), items, 2), "item 0 of thread 4 is not in the list");
}

// Eight elements lie in two chunks, and the first chunk of the list has the higher address. The lookups find elements
// 0, 2 and 5, and null.
TEST(ListCheck, FindsWrongLookups) {
  const auto at = [](std::uint64_t address) { return reinterpret_cast<std::uint32_t*>(address); };
  const std::vector<ListChunk> chunks{{0x2000, 3}, {0x1000, 5}};
  EXPECT_EQ(got_problem(chunks, {at(0x2000), at(0x2008), at(0x1008)}, 8), "");
  EXPECT_EQ(got_problem(chunks, {at(0x2000), at(0x2004), at(0x1008)}, 8), "get(2) did not find that element");
  EXPECT_EQ(got_problem(chunks, {at(0x2000), at(0x2008), nullptr}, 8), "get(5) did not find that element");
  EXPECT_EQ(got_problem({{0x2000, 3}}, {at(0x2000), at(0x2008), nullptr}, 8), "");
  EXPECT_EQ(got_problem({}, {at(0x2000)}, 8), "get(0) did not find that element");
}

}  // namespace
}  // namespace allocbench
