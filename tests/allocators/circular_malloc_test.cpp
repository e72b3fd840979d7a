// These tests of the CMalloc family check the rules of Algorithm 3 by hand-made sequences, then use seeded stress on
// tiny pools.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "allocators/circular_malloc/c_malloc.hpp"
#include "allocators/circular_malloc/c_malloc_reworked.hpp"
#include "allocators/circular_malloc/cf_malloc.hpp"
#include "allocators/circular_malloc/cf_malloc_reworked.hpp"
#include "allocators/circular_malloc/cfm_malloc.hpp"
#include "allocators/circular_malloc/cfm_malloc_reworked.hpp"
#include "allocators/circular_malloc/cm_malloc.hpp"
#include "allocators/circular_malloc/cm_malloc_reworked.hpp"
#include "tests/allocators/fidelity/rig.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/seeds.hpp"

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
  EXPECT_EQ(second - first, 112);  // 100 B and a header of at most 8 B are rounded up to 7 granules
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(CircularMallocTest, KeepsAChunkWholeBelowTheFragmentationLimit) {
  // The pool of 64 KiB has one heap: 9 levels, a root of 4 KiB at offset 0, then two chunks of 2 KiB.
  Rig<TypeParam> rig(64 * 1024, {}, 1, 1);
  const std::ptrdiff_t root = rig.offset(rig.malloc({2100})[0]);  // 2 × 2100 > 4096, so the root is not split
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
    // Null is possible by design although memory is left: all large chunks may be locked for a moment during both laps.
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

// broken_invariant() copies the headers to the host in pieces.
TEST(CircularMallocInvariant, IsCheckedToTheEndOfALargePool) {
  constexpr std::size_t pool_bytes = 8 << 20;
  Rig<CMallocNoMerge> rig(pool_bytes, {}, 1, 1);
  std::vector<std::byte*> last;
  for (void* block = rig.malloc({1000})[0]; block != nullptr; block = rig.malloc({1000})[0]) {
    last.push_back(static_cast<std::byte*>(block));
  }
  ASSERT_GT(last.size(), 4000u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  std::byte* const header = *std::max_element(last.begin(), last.end()) - 16;
  std::memset(header, 0, 16);
  EXPECT_NE(rig.allocator.broken_invariant(rig.stream()).find(" is followed by 0, outside ("), std::string::npos);
}

TYPED_TEST(CircularMallocTest, AnswersNullInBoundedTimeAndServesAgainAfterFrees) {
  Rig<TypeParam> rig(8 * 1024, {}, 1, 1);
  EXPECT_EQ(rig.malloc({1 << 20})[0], nullptr);
  EXPECT_EQ(rig.malloc({8 * 1024 - 64})[0], nullptr);  // larger than each chunk of the fresh pool
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

// In each of ten rounds, 48 threads allocate blocks of random sizes, and then random blocks are freed. The same seed
// gives the same run. The test checks that no live blocks overlap and that the invariant holds.
TYPED_TEST(CircularMallocTest, SurvivesSeededStress) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
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

// After a merge, the absorbed header stays marked as used, so that a walk that has reached this header can continue.
TEST(CMallocReworked, MergesWithTheFollowingChunkOnly) {
  Rig<CMallocReworked> rig(64 * 1024, {}, 1, 1);
  const std::vector<void*> first = rig.malloc({16});
  const std::vector<void*> second = rig.malloc({16});
  const std::vector<void*> third = rig.malloc({16});
  EXPECT_EQ(rig.offset(third[0]), 32);
  rig.free(second);  // only unlocks, because the next chunk is in use
  rig.free(first);   // absorbs the second block; the roving offset moves behind it, to the third
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 48);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(CMMallocReworked, StartsEverySmInItsOwnHeap) {
  circular::CircularParameters parameters;
  parameters.offset_count = 2;
  Rig<CMMallocReworked> rig(64 * 1024, parameters, 1, 2);
  // Sixteen thread blocks of one thread take one block each. The seed determines their virtual SMs, and seed 1 uses
  // both.
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
  parameters.max_steps = 1;
  Rig<CFMallocReworked> rig(64 * 1024, parameters, 1, 1);
  // The root has 4 KiB. The last chunk could serve the request.
  EXPECT_EQ(rig.malloc({5000})[0], nullptr);
}

template <class Thread>
class WalkCounter : public Thread {
 public:
  explicit WalkCounter(const Thread& thread) : Thread(thread) {}
  void probe(simt::Step step) { walked_ += step == simt::Step::walk; }
  std::uint32_t walked() const { return walked_; }

 private:
  std::uint32_t walked_ = 0;
};

struct CountWalks {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const std::uint64_t* sizes, void** blocks,
                          std::uint32_t* walked) const {
    WalkCounter<Thread> counter(thread);
    const std::uint32_t i = thread.rank_in_grid();
    blocks[i] = allocator.malloc(counter, sizes[i]);
    walked[i] = counter.walked();
  }
};

struct Walks {
  std::vector<std::uint32_t> steps;  // steps of each lane
  std::vector<void*> blocks;
};

// Each lane makes one request.
template <class A>
Walks walks_of(Rig<A>& rig, const std::vector<std::uint64_t>& sizes) {
  const auto count = static_cast<std::uint32_t>(sizes.size());
  simt::Buffer<std::uint64_t> requests(count);
  requests.from_host(rig.stream(), sizes);
  simt::Buffer<void*> blocks(count);
  simt::Buffer<std::uint32_t> walked(count);
  const std::uint32_t threads = std::min(count, 32u);
  simt::launch(rig.stream(), {count / threads, threads}, CountWalks{}, rig.allocator,
               static_cast<const std::uint64_t*>(requests.data()), blocks.data(), walked.data());
  return {walked.to_host(rig.stream()), blocks.to_host(rig.stream())};
}

template <class A>
class PublishedWalkTest : public ::testing::Test {};
using PublishedForms = ::testing::Types<CMalloc, CFMalloc, CMMalloc, CFMMalloc, CMallocNoMerge, CFMMallocNoMerge>;
TYPED_TEST_SUITE(PublishedWalkTest, PublishedForms);

// In the paper, only success ends a walk (section 4.2, Algorithm 3). Our published forms add a bound of steps. The pool
// has 65 chunks, and none is large enough.
TYPED_TEST(PublishedWalkTest, EndsByItsBoundOfSteps) {
  Rig<TypeParam> bounded(8 * 1024, {.max_steps = 5000}, 1, 1);
  Walks walks = walks_of(bounded, {8 * 1024 - 64});
  EXPECT_EQ(walks.blocks[0], nullptr);
  EXPECT_EQ(walks.steps[0], 5000u);

  Rig<TypeParam> as_in_the_authors_tests(8 * 1024, {}, 1, 1);
  walks = walks_of(as_in_the_authors_tests, {8 * 1024 - 64});
  EXPECT_EQ(walks.blocks[0], nullptr);
  EXPECT_EQ(walks.steps[0], 1'000'000u);
}

TEST(PublishedWalk, HasMoreStepsInALargePool) {
  Rig<CMalloc> rig(128 << 20, {}, 1, 1);  // the pool has 19 levels
  EXPECT_EQ(walks_of(rig, {100 << 20}).steps[0], 4 * ((1u << 19) + 1));
}

template <class A>
class ReworkedWalkTest : public ::testing::Test {};
using ReworkedForms = ::testing::Types<CMallocReworked, CFMallocReworked, CMMallocReworked, CFMMallocReworked>;
TYPED_TEST_SUITE(ReworkedWalkTest, ReworkedForms);

TYPED_TEST(ReworkedWalkTest, LeavesOutChunksThatWereTooSmallFromTheStart) {
  // Each of the nine levels has 4 KiB. Every chunk of the upper eight levels is taken as a whole. This leaves the
  // offset in the last level.
  Rig<TypeParam> rig(64 * 1024, {}, 1, 1);
  for (std::uint64_t bytes = 4096; bytes >= 32; bytes /= 2) {
    for (std::uint64_t taken = 0; taken < 4096; taken += bytes) ASSERT_NE(rig.malloc({bytes})[0], nullptr);
  }
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 8 * 4096);
  const Walks walks = walks_of(rig, {5000});
  EXPECT_EQ(rig.offset(walks.blocks[0]), 9 * 4096);  // the last chunk begins there
  EXPECT_EQ(walks.steps[0], 1u);                     // 255 free chunks of 16 bytes lie between
}

TYPED_TEST(ReworkedWalkTest, FindsMergedChunksAmongThoseThatWereTooSmall) {
  Rig<TypeParam> rig(64 * 1024, {}, 1, 1);
  std::vector<void*> small;  // blocks of the last level
  for (;;) {
    void* const block = rig.malloc({16})[0];
    if (block == nullptr) break;
    const std::ptrdiff_t offset = rig.offset(block);
    if (offset >= 8 * 4096 && offset < 9 * 4096) small.push_back(block);
  }
  ASSERT_EQ(small.size(), 256u);
  // In this order each chunk merges with the next one.
  std::sort(small.begin(), small.end(), std::greater<>());
  for (void* block : small) rig.free({block});
  EXPECT_EQ(rig.offset(rig.malloc({4096})[0]), 8 * 4096);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// Mixed sizes are allocated and freed in turn. Walks stay short although most chunks of the pool are too small for most
// requests.
TYPED_TEST(ReworkedWalkTest, StaysShortWithMixedSizes) {
  Rig<TypeParam> rig(8 << 20, {.offset_count = 1}, 1, 1, simt::StrategyKind::lockstep);
  std::mt19937_64 random(1);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::uint64_t> sizes(256);
    for (std::uint64_t& size : sizes) size = 4 + random() % 8189;
    const Walks walks = walks_of(rig, sizes);
    EXPECT_EQ(std::count(walks.blocks.begin(), walks.blocks.end(), nullptr), 0);
    const std::uint64_t steps = std::accumulate(walks.steps.begin(), walks.steps.end(), std::uint64_t{0});
    EXPECT_LT(steps / sizes.size(), 500u) << "round " << round;
    rig.free(walks.blocks);
  }
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(ReworkedWalkTest, KeepsWhatLiesBetweenFreedBlocks) {
  testing::FidelityRig<TypeParam> rig(64 * 1024);
  const std::vector<void*> blocks = rig.warp_mallocs(64).blocks;
  std::vector<void*> freed = blocks;
  freed[5] = freed[20] = nullptr;
  rig.free(freed);
  std::vector<void*> more;
  for (void* block = rig.malloc({64})[0]; block != nullptr; block = rig.malloc({64})[0]) more.push_back(block);
  EXPECT_EQ(std::count(more.begin(), more.end(), blocks[5]), 0);
  EXPECT_EQ(std::count(more.begin(), more.end(), blocks[20]), 0);
  EXPECT_EQ(std::count(more.begin(), more.end(), blocks[6]), 1);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
