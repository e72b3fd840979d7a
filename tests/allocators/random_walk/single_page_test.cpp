// These tests of RW, RW-BM, CRW and CoRW check that every page can be taken and that steps follow the formulas of Pham
// et al. 2025, then use seeded stress.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "allocators/random_walk/corw.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/random_walk/crw.hpp"
#include "allocators/random_walk/crw_reworked.hpp"
#include "allocators/random_walk/rw.hpp"
#include "allocators/random_walk/rw_bm.hpp"
#include "allocators/random_walk/rw_bm_reworked.hpp"
#include "allocators/random_walk/rw_reworked.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/allocators/random_walk/steps.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::Rig;
using testing::steps_of_page_requests;

template <class A>
class SinglePageTest : public ::testing::Test {
 public:
  // Returns parameters with which walks rarely give up while a page is free.
  static typename A::Parameters thorough() {
    typename A::Parameters parameters;
    parameters.page_bytes = 16;
    parameters.scarce_share = 0.0005;
    return parameters;
  }
};
using SinglePageAllocators =
    ::testing::Types<RandomWalk, RandomWalkReworked, RandomWalkBitmapReworked, RandomWalkBitmap,
                     ClusteredRandomWalkReworked, ClusteredRandomWalk, CollaborativeRandomWalkReworked,
                     CollaborativeRandomWalk, RandomWalkBitmap64, ClusteredRandomWalk64, CollaborativeRandomWalk64>;
TYPED_TEST_SUITE(SinglePageTest, SinglePageAllocators);

TYPED_TEST(SinglePageTest, HandsOutEveryPageOfAnyNumberOfPages) {
  for (const std::uint32_t pages : {1u, 2u, 31u, 32u, 33u, 64u, 100u, 1000u, 1024u, 1025u}) {
    SCOPED_TRACE(pages);
    Rig<TypeParam> rig(pages * 16, this->thorough());
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(pages, 16));
    std::set<std::ptrdiff_t> offsets;
    for (const void* block : blocks) {
      ASSERT_NE(block, nullptr);
      offsets.insert(rig.offset(block));
    }
    EXPECT_EQ(offsets.size(), pages);
    EXPECT_EQ(*offsets.rbegin(), (pages - 1) * 16);
    EXPECT_EQ(rig.malloc({1})[0], nullptr);
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    for (const void* block : rig.malloc(std::vector<std::uint64_t>(pages, 16))) EXPECT_NE(block, nullptr);
  }
}

TYPED_TEST(SinglePageTest, ServesRequestsUpToOnePage) {
  typename TypeParam::Parameters parameters;
  parameters.page_bytes = 512;
  Rig<TypeParam> rig(1 << 20, parameters);
  const std::vector<void*> blocks = rig.malloc({0, 1, 512, 513, std::uint64_t{1} << 40}, 1);
  for (int i : {0, 1, 2}) EXPECT_EQ(rig.offset(blocks[i]) % 512, 0);
  EXPECT_EQ(blocks[3], nullptr);
  EXPECT_EQ(blocks[4], nullptr);
  EXPECT_EQ(TypeParam::max_request(1 << 20, parameters), 512u);
}

TYPED_TEST(SinglePageTest, ResetFreesEverything) {
  Rig<TypeParam> rig(50 * 16, this->thorough());
  rig.malloc(std::vector<std::uint64_t>(50, 16));
  rig.allocator.reset(rig.stream());
  for (const void* block : rig.malloc(std::vector<std::uint64_t>(50, 16))) EXPECT_NE(block, nullptr);
}

TYPED_TEST(SinglePageTest, SeedsOfTheGeneratorGiveOtherPages) {
  std::set<std::vector<std::ptrdiff_t>> results;
  for (const std::uint32_t seed : {0u, 1u, 2u}) {
    auto parameters = this->thorough();
    parameters.seed = seed;
    Rig<TypeParam> rig(4096 * 16, parameters);
    std::vector<std::ptrdiff_t> offsets;
    for (const void* block : rig.malloc(std::vector<std::uint64_t>(64, 16))) offsets.push_back(rig.offset(block));
    results.insert(offsets);
  }
  EXPECT_EQ(results.size(), 3u);
}

TYPED_TEST(SinglePageTest, SurvivesSeededChurn) {
  const std::uint64_t last = testing::seeds(25);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    // Some pools are roomy, and others are too small for the blocks that the lanes want to hold.
    const std::size_t pages = 8 + seed * 7 % 90;
    Rig<TypeParam> rig(pages * 16, this->thorough(), seed);
    const testing::ChurnResult result = testing::churn(rig.allocator, rig.stream(), seed, {.sizes = {4, 16}});
    ASSERT_EQ(result.broken, 0u);
    ASSERT_GT(result.served, 0u);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    for (const void* block : rig.malloc(std::vector<std::uint64_t>(pages, 16))) ASSERT_NE(block, nullptr);
  }
}

// Returns formula (3), or formula (5) for a `width` of more than 1, as an exact sum over requests that are served one
// after the other. A step succeeds if one of `width` pages is free.
double expected_steps(double pages, double free, double threads, double width) {
  double sum = 0;
  for (double served = 0; served < threads; ++served) {
    sum += 1 / (1 - std::pow((pages - free + served) / pages, width));
  }
  return sum / threads;
}

// One number of pages is a power of two: with such a number, generators with short cycles in their low bits fail.
TEST(RandomWalkReworked, TakesTheStepsOfFormula3) {
  for (const std::uint32_t pages : {1u << 17, 5u << 14, 100'000u}) {
    const std::uint32_t free = pages / 10;
    const double expected = expected_steps(pages, free, 4096, 1);
    const double measured = steps_of_page_requests<RandomWalkReworked>(pages, free, 4096, 7).average();
    EXPECT_NEAR(measured, expected, 4.5 * expected / std::sqrt(4096)) << pages;
  }
}

TEST(RandomWalkBitmapReworked, TakesTheStepsOfFormula5) {
  for (const std::uint32_t pages : {1u << 20, 5u << 17, 1'000'000u}) {
    const std::uint32_t free = pages / 100;
    const double expected = expected_steps(pages, free, 4096, 32);
    const double measured = steps_of_page_requests<RandomWalkBitmapReworked>(pages, free, 4096, 7).average();
    EXPECT_NEAR(measured, expected, 4.5 * expected / std::sqrt(4096)) << pages;
  }
}

// Checks a word length of section 3.3 with 1 % of the pages free, so that walks seldom give up. Theorem 1: with w pages
// per word, at least 1/w of the steps remains, and hardly more if few pages are free.
template <class A>
void expect_formula_5(std::uint32_t word) {
  for (const std::uint32_t pages : {1u << 20, 1'000'000u}) {
    const std::uint32_t free = pages / 100;
    const double expected = expected_steps(pages, free, 4096, word);
    const double measured = steps_of_page_requests<A>(pages, free, 4096, 7).average();
    const double by_chance = 4.5 * expected / std::sqrt(4096);
    EXPECT_GT(measured, expected - by_chance) << pages;
    EXPECT_LT(measured, 1.1 * expected + by_chance) << pages;  // words that other lanes have locked cost steps, too
    const double left = measured * word / expected_steps(pages, free, 4096, 1);
    EXPECT_GT(left, 1) << pages;
    EXPECT_LT(left, word == 32 ? 1.3 : 1.5) << pages;
  }
}
TEST(RandomWalkBitmap, TakesTheStepsOfFormula5) { expect_formula_5<RandomWalkBitmap>(32); }
TEST(RandomWalkBitmap64, TakesTheStepsOfFormula5) { expect_formula_5<RandomWalkBitmap64>(64); }

TEST(CollaborativeRandomWalkReworked, LanesOfAWarpLeaveAfterTheSameRounds) {
  const std::uint32_t pages = 1 << 20;
  const testing::Steps plenty = steps_of_page_requests<CollaborativeRandomWalkReworked>(pages, pages / 10, 4096, 3);
  // The 32 words of a step have 102 free pages on average. The attempt without a load does not count as a step.
  EXPECT_LT(plenty.average(), 1.01);
  const testing::Steps scarce = steps_of_page_requests<CollaborativeRandomWalkReworked>(pages, pages / 100, 4096, 3);
  std::size_t whole_warps = 0;  // the executor splits a few warps
  for (std::size_t warp = 0; warp < scarce.steps.size(); warp += 32) {
    const auto lanes = scarce.steps.begin() + static_cast<std::ptrdiff_t>(warp);
    whole_warps += *std::min_element(lanes, lanes + 32) == *std::max_element(lanes, lanes + 32);
  }
  EXPECT_GT(whole_warps, 110u);  // of 128
  // The 32 words of a round have 10.24 free pages on average at first, and 6.24 at the end. So a warp needs at least 32
  // / 10.24 = 3.1 rounds on average.
  EXPECT_GT(scarce.average(), 3.1);
  EXPECT_LT(scarce.average(), 6.3);
}

TEST(CollaborativeRandomWalkReworked, HelpsTheLanesThatFindNothing) {
  // The 32 words have 64 free pages at random places. A lane whose word has no free page gets one that another lane has
  // found, so every lane needs one step.
  const testing::Steps steps = steps_of_page_requests<CollaborativeRandomWalkReworked>(1024, 64, 32, 1);
  std::set<void*> blocks(steps.blocks.begin(), steps.blocks.end());
  EXPECT_EQ(blocks.size(), 32u);
  EXPECT_EQ(blocks.count(nullptr), 0u);
  EXPECT_EQ(steps.average(), 1.0);
}

TEST(RandomWalkReworked, GivesUpAfterTheProbesOfTheRule) {
  EXPECT_EQ(random_walk::vain_probes(0.005, 1'000'000), 1076u);  // section 3.2.3
  EXPECT_EQ(random_walk::vain_probes(0.005, 3), 96u);
  EXPECT_EQ(random_walk::vain_probes(1, 1000), 1u);
  EXPECT_EQ(random_walk::vain_probes(0, 1000), 0xffffffffu);
  EXPECT_EQ(random_walk::vain_word_probes(0.005, 1000), 34u);
  EXPECT_EQ(random_walk::vain_word_probes(0.005, 1), 32u);
  EXPECT_EQ(random_walk::vain_word_probes(0, 1000), 0xffffffffu);
  EXPECT_EQ(random_walk::vain_word_probes(0.005, 1000, 64), 17u);  // 1,076 / 64, rounded up
  const testing::Steps steps = steps_of_page_requests<RandomWalkReworked>(1000, 0, 32, 1);
  for (const std::uint32_t each : steps.steps) EXPECT_EQ(each, 1076u);
  const testing::Steps words = steps_of_page_requests<RandomWalkBitmapReworked>(1000, 0, 32, 1);
  for (const std::uint32_t each : words.steps) EXPECT_EQ(each, 1024u);  // 32 words, 32 probes each
  const testing::Steps published = steps_of_page_requests<RandomWalkBitmap>(1000, 0, 32, 1);
  // The steps include words that other lanes had locked.
  for (const std::uint32_t each : published.steps) EXPECT_GE(each, 34u);
  const testing::Steps of_64 = steps_of_page_requests<RandomWalkBitmap64>(1000, 0, 32, 1);
  for (const std::uint32_t each : of_64.steps) EXPECT_GE(each, 17u);
}

// One of thirty-two words is free, and all others are full. A walk of 34 random words misses the free word in one of
// three cases.
TEST(RandomWalkBitmapReworked, FindsFreePagesThatLieInOneWord) {
  random_walk::PageParameters parameters;
  parameters.page_bytes = 16;
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    Rig<RandomWalkBitmapReworked> rig(1024 * 16, parameters, seed);
    rig.allocator.occupy(rig.stream(), PageSet::first(1024 - 32));
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 16));
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0) << "seed " << seed;
  }
}

TEST(ClusteredRandomWalkReworked, TakesThePageBesideTheLastOne) {
  random_walk::ClusteredParameters parameters;
  parameters.page_bytes = 16;
  Rig<ClusteredRandomWalkReworked> rig(std::size_t{16} << 16, parameters);
  const std::ptrdiff_t first = rig.offset(rig.malloc({16})[0]);
  // The next mallocs run in other kernels. The allocator keeps the thread's last page from kernel to kernel.
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), first + 16);
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), first + 32);
}

TEST(ClusteredRandomWalkReworked, GoesOnAtTheFrontAfterTheLastPage) {
  random_walk::ClusteredParameters parameters;
  parameters.page_bytes = 16;
  parameters.scarce_share = 0.0005;
  Rig<ClusteredRandomWalkReworked> rig(40 * 16, parameters);
  rig.allocator.occupy(rig.stream(), PageSet::first(39));
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 39 * 16);
  rig.allocator.occupy(rig.stream(), PageSet::first(0));
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 0);
}

}  // namespace
}  // namespace allocbench
