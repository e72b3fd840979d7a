// The CMalloc family: the rules of Algorithm 3 by hand-made sequences, then seeded stress on tiny pools.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "allocators/circular_malloc/c_malloc.hpp"
#include "allocators/circular_malloc/c_malloc_reworked.hpp"
#include "allocators/circular_malloc/cf_malloc.hpp"
#include "allocators/circular_malloc/cf_malloc_reworked.hpp"
#include "allocators/circular_malloc/cfm_malloc.hpp"
#include "allocators/circular_malloc/cfm_malloc_reworked.hpp"
#include "allocators/circular_malloc/cm_malloc.hpp"
#include "allocators/circular_malloc/cm_malloc_reworked.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

using testing::Rig;

template <class A>
class CircularMallocTest : public ::testing::Test {};
using SafeVariants = ::testing::Types<CMallocReworked, CFMallocReworked, CMMallocReworked, CFMMallocReworked,
                                      CMallocNoMerge, CFMallocNoMerge, CMMallocNoMerge, CFMMallocNoMerge>;
TYPED_TEST_SUITE(CircularMallocTest, SafeVariants);

template <class A>
constexpr std::ptrdiff_t first_payload = std::string_view(A::traits.name).ends_with("_reworked") ? 0 : 16;

TYPED_TEST(CircularMallocTest, SplitsALargeChunkAndLeavesTheOffsetOnItsRest) {
  Rig<TypeParam> rig(64 * 1024, {}, 1, 1);
  const std::ptrdiff_t first = rig.offset(rig.malloc({100})[0]);
  EXPECT_EQ(first, first_payload<TypeParam>);
  const std::ptrdiff_t second = rig.offset(rig.malloc({100})[0]);
  EXPECT_EQ(second - first, 112);  // 100 B and a header of at most 8 round up to 7 granules
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(CircularMallocTest, KeepsAChunkWholeBelowTheFragmentationLimit) {
  // One heap on 64 KiB: 9 levels, a root of 4 KiB at offset 0, then two of 2 KiB.
  Rig<TypeParam> rig(64 * 1024, {}, 1, 1);
  const std::ptrdiff_t root = rig.offset(rig.malloc({2100})[0]);  // 2 × 2100 > 4096: not split
  const std::ptrdiff_t next = rig.offset(rig.malloc({16})[0]);
  EXPECT_EQ(next - root, 4096);
}

TYPED_TEST(CircularMallocTest, AlignsEveryBlockAndStaysInThePool) {
  Rig<TypeParam> rig(64 * 1024);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < 200; ++i) sizes.push_back(1 + i % 150);
  const std::vector<void*> blocks = rig.malloc(sizes);
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> ranges;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // Null with memory left is part of the design: all large chunks may be locked for a moment during both laps.
    if (blocks[i] == nullptr) continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[i]) % 16, 0u);
    ranges.emplace_back(rig.offset(blocks[i]), rig.offset(blocks[i]) + static_cast<std::ptrdiff_t>(sizes[i]));
  }
  ASSERT_GE(ranges.size(), blocks.size() * 9 / 10);
  std::sort(ranges.begin(), ranges.end());
  EXPECT_GE(ranges.front().first, 0);
  EXPECT_LE(ranges.back().second, 64 * 1024);
  for (std::size_t i = 1; i < ranges.size(); ++i) EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(CircularMallocTest, AnswersNullInBoundedTimeAndServesAgainAfterFrees) {
  Rig<TypeParam> rig(8 * 1024, {}, 1, 1);
  EXPECT_EQ(rig.malloc({1 << 20})[0], nullptr);
  EXPECT_EQ(rig.malloc({8 * 1024 - 64})[0], nullptr);  // larger than any chunk of the fresh pool
  std::vector<void*> held;
  for (;;) {
    void* block = rig.malloc({48})[0];
    if (block == nullptr) break;
    held.push_back(block);
  }
  EXPECT_GT(held.size(), 40u);
  rig.free(held);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  const std::vector<void*> again = rig.malloc(std::vector<std::uint64_t>(held.size() / 2, 48));
  EXPECT_EQ(std::count(again.begin(), again.end(), nullptr), 0);
}

TYPED_TEST(CircularMallocTest, IgnoresNullAndServesZeroBytes) {
  Rig<TypeParam> rig(8 * 1024);
  rig.free({nullptr});
  const std::vector<void*> blocks = rig.malloc({0, 0});
  EXPECT_NE(blocks[0], nullptr);
  EXPECT_NE(blocks[0], blocks[1]);
}

TYPED_TEST(CircularMallocTest, RejectsAPoolItCannotDivide) { EXPECT_THROW(Rig<TypeParam>(16), Unsupported); }

// Imitates mixed use: every thread allocates, writes its mark, and frees half of the time, for several rounds.
// Deterministic per seed. Marks catch two owners of one byte, the invariant catches a torn list.
TYPED_TEST(CircularMallocTest, SurvivesSeededStress) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Rig<TypeParam> rig(16 * 1024, {}, seed, 2);
    std::vector<std::pair<void*, std::uint64_t>> live;
    for (int round = 0; round < 10; ++round) {
      std::vector<std::uint64_t> sizes(48);
      for (std::uint64_t& size : sizes) size = 1 + random() % 120;
      const std::vector<void*> blocks = rig.malloc(sizes, 24);
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i] != nullptr) live.emplace_back(blocks[i], sizes[i]);
      }
      std::sort(live.begin(), live.end());
      for (std::size_t i = 1; i < live.size(); ++i) {
        ASSERT_LE(static_cast<std::byte*>(live[i - 1].first) + live[i - 1].second, live[i].first);
      }
      std::shuffle(live.begin(), live.end(), random);
      std::vector<void*> freed;
      while (live.size() > 40 || (!live.empty() && random() % 3 == 0)) {
        freed.push_back(live.back().first);
        live.pop_back();
      }
      rig.free(freed, 24);
      ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    }
  }
}

// After a merge the absorbed header stays behind as a used signpost, so that a walker which still points there goes on.
TEST(CMallocReworked, MergesWithTheFollowingChunkOnly) {
  Rig<CMallocReworked> rig(64 * 1024, {}, 1, 1);
  const std::vector<void*> first = rig.malloc({16});
  const std::vector<void*> second = rig.malloc({16});
  const std::vector<void*> third = rig.malloc({16});
  EXPECT_EQ(rig.offset(third[0]), 32);
  rig.free(second);  // its follower is in use: only unlocked
  rig.free(first);   // absorbs the second; the roving offset moves behind it, to the third
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 48);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(CMMallocReworked, StartsEverySmInItsOwnHeap) {
  circular::CircularParameters parameters;
  parameters.offset_count = 2;
  Rig<CMMallocReworked> rig(64 * 1024, parameters, 1, 2);
  // Sixteen blocks of one thread: virtual SMs are drawn from the seed, and seed 1 uses both.
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(16, 16), 1);
  const std::ptrdiff_t second_heap = std::ptrdiff_t{circular::PreSplit::fit(4096, 2, 1).heap_granules()} * 16;
  const auto starts_at = [&](std::ptrdiff_t offset) {
    return std::count_if(blocks.begin(), blocks.end(), [&](void* block) { return rig.offset(block) == offset; });
  };
  EXPECT_EQ(starts_at(0), 1);
  EXPECT_EQ(starts_at(second_heap), 1);
}

TEST(CFMallocReworked, GivesUpAfterTheStepsItIsAllowed) {
  circular::CircularParameters parameters;
  parameters.max_steps = 3;
  Rig<CFMallocReworked> rig(64 * 1024, parameters, 1, 1);
  // Root 4 KiB, then 2 × 2 KiB: the chunk that could serve it is further than three steps away.
  EXPECT_EQ(rig.malloc({5000})[0], nullptr);
}

}  // namespace
}  // namespace allocbench
