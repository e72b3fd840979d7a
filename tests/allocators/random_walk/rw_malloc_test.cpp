// These tests of RW_malloc compare words of runs with a plain model, check sharing and counting by hand, then use
// seeded stress.
#include "allocators/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocators/random_walk/rw_malloc_reworked.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/fidelity/rig.hpp"
#include "tests/allocators/stress.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using random_walk::PageParameters;
using random_walk::PageRun;
using testing::Rig;
namespace run_word = random_walk::run_word;

TEST(RunWord, ReadsBackEveryRunBesideAnyNeighbours) {
  for (std::uint32_t first = 0; first < 32; ++first) {
    for (std::uint32_t pages = 1; pages <= 32 - first; ++pages) {
      for (const bool shared : {false, true}) {
        for (int neighbours = 0; neighbours < 4; ++neighbours) {
          const PageRun run{first, pages, shared};
          std::uint64_t word = run_word::bits_of(run);
          const std::uint32_t end = first + pages;
          // The pages before and behind the run are free, or other runs fill them.
          if ((neighbours & 1) != 0 && first != 0) word |= run_word::bits_of({0, first, !shared});
          if ((neighbours & 2) != 0 && end != 32) word |= run_word::bits_of({end, 32 - end, shared});
          for (std::uint32_t page = first; page < end; ++page) {
            const PageRun found = run_word::run_at(word, page);
            ASSERT_EQ(found.first, first);
            ASSERT_EQ(found.pages, pages);
            ASSERT_EQ(found.shared, shared);
          }
          ASSERT_EQ(run_word::bits_of(run) & ~run_word::bits_to_clear(run), 0u);
        }
      }
    }
  }
}

TEST(RunWord, FindsFreeRunsAsALoopDoes) {
  std::uint64_t random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    // Every third word is dense, and the others are sparse.
    const std::uint64_t word = i % 3 == 0 ? random : random & random << 7 & random << 13;
    for (std::uint32_t pages = 1; pages <= 32; pages += 1 + pages / 5) {
      std::uint32_t expected = 0;
      for (std::uint32_t first = 0; first + pages <= 32; ++first) {
        bool free = true;
        for (std::uint32_t page = first; page < first + pages; ++page) {
          free = free && ((word >> page | word >> (page + 32)) & 1) == 0;
        }
        expected |= free ? 1u << first : 0u;
      }
      ASSERT_EQ(run_word::starts_of_free_runs(word, pages), expected) << std::hex << word << " " << pages;
    }
  }
}

PageParameters pages_of(std::uint64_t bytes) { return {.page_bytes = bytes}; }

template <class A>
class RandomWalkMallocTest : public ::testing::Test {};
using Forms = ::testing::Types<RandomWalkMalloc, RandomWalkMallocReworked, RandomWalkMallocRegions>;
TYPED_TEST_SUITE(RandomWalkMallocTest, Forms);

template <class A>
class RunsInWordsTest : public ::testing::Test {};
using FormsInWords = ::testing::Types<RandomWalkMalloc, RandomWalkMallocReworked>;
TYPED_TEST_SUITE(RunsInWordsTest, FormsInWords);

TYPED_TEST(RunsInWordsTest, ServesUpTo32PagesAtAPageBoundary) {
  Rig<TypeParam> rig(1 << 20, pages_of(256));
  EXPECT_EQ(TypeParam::max_request(1 << 20, pages_of(256)), 8192u);
  const std::vector<void*> blocks = rig.malloc({8192, 256, 257, 1050, 8193, std::uint64_t{1} << 40}, 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rig.offset(blocks[i]) % 256, 0) << i;
  EXPECT_EQ(rig.offset(blocks[0]) % 8192, 0);
  EXPECT_EQ(blocks[4], nullptr);
  EXPECT_EQ(blocks[5], nullptr);
  rig.free(blocks);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(RunsInWordsTest, FillsThePoolWithRunsOfAPowerOfTwo) {
  for (const std::uint64_t bytes : {256u, 512u, 1024u, 2048u, 4096u, 8192u}) {
    PageParameters parameters = pages_of(256);
    parameters.scarce_share = 0.001;
    Rig<TypeParam> rig(64 * 8192, parameters);
    const std::size_t count = 64 * 8192 / bytes;
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(count, bytes));
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0) << bytes;
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), count);
    EXPECT_EQ(rig.malloc({256})[0], nullptr);
    rig.free(blocks);
    EXPECT_NE(rig.malloc({8192})[0], nullptr);
  }
}

// Runs do not cross words, so each word holds six runs of 5 pages.
TYPED_TEST(RunsInWordsTest, KeepsRunsWithinAWord) {
  PageParameters parameters = pages_of(256);
  parameters.scarce_share = 0.001;
  Rig<TypeParam> rig(8 * 8192, parameters);
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(60, 1050));
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 60 - 8 * 6);
  for (const void* block : blocks) {
    if (block != nullptr) {
      EXPECT_LE(rig.offset(block) % 8192, 8192 - 5 * 256);
    }
  }
}

// Requests four pages from a pool of 64 pages in which only the pages in `free` are free. Returns the first page of the
// block, or -1 if the request fails.
template <class A>
std::ptrdiff_t page_of_four(std::set<std::uint32_t> free, std::uint64_t seed) {
  PageParameters parameters = pages_of(256);
  parameters.scarce_share = 0.01;
  Rig<A> rig(64 * 256, parameters, seed);
  struct Used {
    std::uint64_t free;
    SIMT_HOST_FN bool operator()(std::uint32_t page) const { return (free >> page & 1) == 0; }
  };
  Used used{0};
  for (const std::uint32_t page : free) used.free |= std::uint64_t{1} << page;
  rig.allocator.occupy(rig.stream(), used);
  const void* const block = rig.malloc({1024})[0];
  return block == nullptr ? -1 : rig.offset(block) / 256;
}

// Pham et al. 2025: "Free segments running across two neighboring words will also be connected". But page 0 is not
// adjacent to the last page.
TEST(RandomWalkMallocRegions, ConnectsSegmentsOverTheBordersOfWords) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    EXPECT_EQ(page_of_four<RandomWalkMallocRegions>({30, 31, 32, 33}, seed), 30);
    EXPECT_EQ(page_of_four<RandomWalkMalloc>({30, 31, 32, 33}, seed), -1);
    EXPECT_EQ(page_of_four<RandomWalkMallocRegions>({29, 31, 32, 33, 34}, seed), 31);
    EXPECT_EQ(page_of_four<RandomWalkMallocRegions>({31, 32, 33, 40}, seed), -1);
    EXPECT_EQ(page_of_four<RandomWalkMallocRegions>({0, 1, 62, 63}, seed), -1);
  }
}

TEST(RandomWalkMallocRegions, ServesUpToARegionButOnePage) {
  EXPECT_EQ(RandomWalkMallocRegions::max_request(1 << 20, pages_of(256)), 1023u * 256);
  Rig<RandomWalkMallocRegions> rig(1024 * 256, pages_of(256));
  const std::vector<void*> blocks = rig.malloc({1023 * 256, 1024 * 256}, 1);
  EXPECT_EQ(rig.offset(blocks[0]), 0);
  EXPECT_EQ(blocks[1], nullptr);
  EXPECT_EQ(rig.offset(rig.malloc({256})[0]), 1023 * 256) << "the only free page";
  rig.free(blocks);
  EXPECT_NE(rig.malloc({1000 * 256})[0], nullptr);
}

// A region holds 25 runs of 40 pages.
TEST(RandomWalkMallocRegions, LanesOfAWarpTakeRunsOfSeveralWords) {
  PageParameters parameters = pages_of(256);
  parameters.scarce_share = 0.01;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Rig<RandomWalkMallocRegions> rig(4096 * 256, parameters, seed);
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 40 * 256));
    std::set<std::ptrdiff_t> offsets;
    for (const void* block : blocks) {
      ASSERT_NE(block, nullptr);
      offsets.insert(rig.offset(block));
    }
    ASSERT_EQ(offsets.size(), 32u);
    for (auto next = std::next(offsets.begin()); next != offsets.end(); ++next) {
      EXPECT_GE(*next - *std::prev(next), 40 * 256);
    }
    rig.free(blocks);
    const std::vector<void*> large = rig.malloc({900 * 256, 900 * 256}, 1);
    EXPECT_EQ(std::count(large.begin(), large.end(), nullptr), 0) << "all pages of the runs are free again";
  }
}

// Returns the number of pages in which the blocks begin.
template <class A>
std::size_t pages_in_use(Rig<A>& rig, const std::vector<void*>& blocks) {
  std::set<std::ptrdiff_t> pages;
  for (const void* block : blocks) pages.insert(rig.offset(block) / 256);
  return pages.size();
}

TYPED_TEST(RandomWalkMallocTest, SmallRequestsOfAWarpShareARun) {
  bool all_shared = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig<TypeParam> rig(1 << 18, pages_of(256), seed);
    std::vector<std::uint64_t> sizes(32);
    for (std::uint32_t i = 0; i < 32; ++i) sizes[i] = seed % 2 == 0 ? 20 : 1 + i * 7;
    const std::vector<void*> blocks = rig.malloc(sizes);
    ASSERT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 32u);
    all_shared = all_shared || pages_in_use(rig, blocks) == (seed % 2 == 0 ? 4u : 15u);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
  EXPECT_TRUE(all_shared);
}

TYPED_TEST(RandomWalkMallocTest, FreeingOneMemberLeavesTheOthers) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    // The pool has one word of 32 pages. A page that is freed too early would be handed out again immediately.
    Rig<TypeParam> rig(8192, pages_of(256), seed);
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 100));
    ASSERT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
    std::vector<void*> odd;
    std::vector<void*> even;
    for (std::uint32_t i = 0; i < 32; ++i) (i % 2 == 0 ? even : odd).push_back(blocks[i]);
    rig.free(odd, 5);
    std::vector<void*> more = rig.malloc(std::vector<std::uint64_t>(32, 256), 1);
    std::set<std::ptrdiff_t> held;
    for (const void* block : even) held.insert(rig.offset(block) / 256);
    for (const void* block : more) {
      if (block != nullptr) {
        ASSERT_EQ(held.count(rig.offset(block) / 256), 0u) << "seed " << seed;
      }
    }
    rig.free(more);
    rig.free(even, 1);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    ASSERT_NE(rig.malloc({8192})[0], nullptr) << "seed " << seed;
  }
}

// There are 32 free pages, and no two are neighbours, so a shared run of more than one page is impossible.
TEST(RandomWalkMallocReworked, MembersGetPagesOfTheirOwnWhereNoRunIsFree) {
  PageParameters parameters = pages_of(256);
  parameters.scarce_share = 0.001;
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    Rig<RandomWalkMallocReworked> rig(64 * 256, parameters, seed);
    struct EverySecond {
      SIMT_HOST_FN bool operator()(std::uint32_t page) const { return page % 2 == 0; }
    };
    rig.allocator.occupy(rig.stream(), EverySecond{});
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 200));
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0) << "seed " << seed;
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 32u);
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

// One region of 32 words has two runs of 16 pages in each word. Three warps request 96 runs together, but there are 64.
// What a lane has seen of the other words is then outdated. The lanes look again instead of trying word after word.
TEST(RandomWalkMallocReworked, LooksAgainWhereOthersFilledTheWords) {
  PageParameters parameters = pages_of(64);
  parameters.scarce_share = 0.1;
  std::uint64_t most_lost = 0;
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    testing::FidelityRig<RandomWalkMallocReworked> rig(32 * 32 * 64, parameters, seed, 4,
                                                       simt::StrategyKind::round_robin);
    const testing::Calls mallocs = rig.counted_malloc(std::vector<std::uint64_t>(96, 1024));
    for (const testing::Ops& lane : mallocs.of_lane) most_lost = std::max(most_lost, lane.lost);
  }
  EXPECT_LE(most_lost, 8u);
}

// If memory is scarce, walks of all forms but RandomWalkMallocReworked are long.
template <class A>
constexpr bool is_slow = !std::is_same_v<A, RandomWalkMallocReworked>;

TYPED_TEST(RandomWalkMallocTest, SurvivesSeededStress) {
  const std::vector<std::vector<std::uint64_t>> mixes = {{16},   {1, 24, 48}, {64, 128, 512},    {16, 300, 1050, 2048},
                                                         {2048}, {700, 65},   {16, 60, 64, 1000}};
  const std::uint64_t last = testing::seeds(is_slow<TypeParam> ? 30 : 120);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::StressPlan plan;
    plan.sizes = mixes[seed % mixes.size()];
    plan.threads = 2 + static_cast<std::uint32_t>(seed * 7 % 63);
    // The pool has one to four words of pages of 64 bytes, and the last word may be partial.
    Rig<TypeParam> rig((32 + seed * 11 % 97) * 64, pages_of(64), seed);
    ASSERT_EQ(testing::stress(rig, plan, seed), "");
    ASSERT_NE(rig.malloc({2048})[0], nullptr);  // everything is free again
  }
}

TYPED_TEST(RandomWalkMallocTest, SurvivesSeededChurn) {
  const std::uint64_t last = testing::seeds(is_slow<TypeParam> ? 8 : 40);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rig<TypeParam> rig((32 + seed * 11 % 97) * 64, pages_of(64), seed);
    const testing::ChurnResult result =
        testing::churn(rig.allocator, rig.stream(), seed, {.sizes = {8, 16, 40, 64, 200, 1000}});
    ASSERT_EQ(result.broken, 0u);
    ASSERT_GT(result.served, 0u);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

}  // namespace
}  // namespace allocbench
