// These tests compare the operations of CMalloc, CFMalloc, CMMalloc and CFMMalloc with Algorithm 3 of Vinkler & Havran
// 2015, worked out by hand, and with section 4.3 for the fused forms.
//
// Pool of 64 KiB: 4,094 granules, one heap of nine levels (root 256 granules at 0, two chunks of 128, four of 64 ...)
// and a last chunk of 1,790. A request of 100 B takes 7 granules with its header.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/circular_malloc/c_malloc.hpp"
#include "allocators/circular_malloc/cf_malloc.hpp"
#include "allocators/circular_malloc/cfm_malloc.hpp"
#include "allocators/circular_malloc/cm_malloc.hpp"
#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::size_t pool_bytes = 64 * 1024;
constexpr std::uint64_t chunks = 512;  // 511 of the heap and the last one

Ops operator+(Ops a, const Ops& b) { return a += b; }

// A form whose flag and next are two words, or one.
template <class A, bool is_fused>
struct Form {
  using Allocator = A;
  static constexpr bool fused = is_fused;

  // Lines 5 and 6: compare-exchange of the flag, load of next. Fused: one OR.
  static constexpr Ops lock_won = fused ? Ops{.updates = 1} : Ops{.loads = 1, .compare_exchanges = 1};
  static constexpr Ops lock_lost = fused ? Ops{.updates = 1} : Ops{.loads = 1, .compare_exchanges = 1, .lost = 1};
  // Line 11: flag.
  static constexpr Ops unlock{.stores = 1};
  // Lines 17, 18 and 20: flag and next of the new header, next of the old one. Fused: a store each.
  static constexpr Ops split{.stores = fused ? 2u : 3u};
  // Lines 2 and 21.
  static constexpr Ops look_up_offset{.loads = 1};
  static constexpr Ops leave_offset{.stores = 1};
};

template <class F>
class CircularFidelity : public ::testing::Test {};
using Published = ::testing::Types<Form<CMalloc, false>, Form<CFMalloc, true>, Form<CMMalloc, false>,
                                   Form<CFMMalloc, true>, Form<CMallocNoMerge, false>, Form<CFMallocNoMerge, true>,
                                   Form<CMMallocNoMerge, false>, Form<CFMMallocNoMerge, true>>;
TYPED_TEST_SUITE(CircularFidelity, Published);

TYPED_TEST(CircularFidelity, OneLaneLocksTheRootAndSplitsIt) {
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes);
  EXPECT_EQ(rig.counted_malloc({100}).of_lane[0],
            TypeParam::look_up_offset + TypeParam::lock_won + TypeParam::split + TypeParam::leave_offset);
}

TYPED_TEST(CircularFidelity, AChunkBelowTheLimitIsNotSplit) {
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes);
  EXPECT_EQ(rig.counted_malloc({2100}).of_lane[0],
            TypeParam::look_up_offset + TypeParam::lock_won + TypeParam::leave_offset);
}

// In lockstep all lanes try the root, all but lane 0 the next chunk, and so on: lane i loses i locks. Every one of them
// splits, for the smallest of the first 32 chunks has 8 granules and the need is 2. No lane looks before it locks, none
// speaks for another.
TYPED_TEST(CircularFidelity, EveryLaneOfAWarpLocksByItself) {
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes);
  Calls mallocs = rig.warp_mallocs(16);
  std::sort(mallocs.of_lane.begin(), mallocs.of_lane.end(),
            [](const Ops& a, const Ops& b) { return a.loads + a.updates < b.loads + b.updates; });
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(mallocs.of_lane[lane], TypeParam::look_up_offset + TypeParam::lock_lost * lane + TypeParam::lock_won +
                                         TypeParam::split + TypeParam::leave_offset)
        << "the " << lane << "th";
  }
}

// The root is taken. 510 chunks of the heap are locked, found too small and unlocked; the last one serves.
TYPED_TEST(CircularFidelity, AWalkLocksEveryChunkThatIsTooSmall) {
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes);
  rig.malloc({4000});
  EXPECT_EQ(rig.counted_malloc({3000}).of_lane[0],
            TypeParam::look_up_offset + (TypeParam::lock_won + TypeParam::unlock) * (chunks - 2) + TypeParam::lock_won +
                TypeParam::split + TypeParam::leave_offset);
}

// The offset moves on with every request. The request that moves it to the levels whose chunks are too small passes all
// of them: 496 chunks of 1 to 16 granules, of which 256 bytes need 17. The requests before it lock one chunk or two.
TYPED_TEST(CircularFidelity, OneRequestPassesTheLevelsOfSmallChunks) {
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes);
  std::uint64_t before = 0;
  std::uint64_t locks = 0;
  for (int request = 0; request < 100 && locks <= 2; ++request) {
    const Calls mallocs = rig.counted_malloc({256});
    before = std::max(before, locks);
    locks = mallocs.of_lane[0].updates + mallocs.of_lane[0].compare_exchanges;
    rig.counted_free(mallocs.blocks);
  }
  EXPECT_LE(before, 2u);
  EXPECT_EQ(locks, 496u + 1u);
}

// Steps for two laps over all chunks and the end marker, which is in use.
TYPED_TEST(CircularFidelity, AnExhaustedPoolIsWalkedUntilTheStepsAreUsedUp) {
  circular::CircularParameters parameters;
  parameters.max_steps = 2 * (chunks + 1);
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes, parameters);
  const Calls mallocs = rig.counted_malloc({50'000});
  EXPECT_EQ(mallocs.blocks[0], nullptr);
  EXPECT_EQ(mallocs.of_lane[0], TypeParam::look_up_offset +
                                    ((TypeParam::lock_won + TypeParam::unlock) * chunks + TypeParam::lock_lost) * 2);
}

// Of two blocks in a row the first is freed (the chunk behind it is in use), then the second (the one behind is free).
template <class A>
std::pair<Ops, Ops> frees(typename A::Parameters parameters = {}) {
  FidelityRig<A> rig(pool_bytes, parameters);
  const std::vector<void*> first = rig.malloc({100});
  const std::vector<void*> second = rig.malloc({100});
  const Ops unmerged = rig.counted_free(first).of_lane[0];
  return {unmerged, rig.counted_free(second).of_lane[0]};
}

TEST(CMallocFidelity, Free) {
  const auto [unmerged, merged] = frees<CMalloc>();
  // Line 26: own next; 27: lock of the neighbour, lost; 33: own flag.
  EXPECT_EQ(unmerged, (Ops{.loads = 1, .stores = 1, .compare_exchanges = 1, .lost = 1}));
  // Lines 26, 27, 29: its next, 30: offset, 31: own next, 33: own flag.
  EXPECT_EQ(merged, (Ops{.loads = 2, .stores = 3, .compare_exchanges = 1}));
}

TEST(CFMallocFidelity, Free) {
  const auto [unmerged, merged] = frees<CFMalloc>();
  // Own word 1; OR of the neighbour's 1; own word 1.
  EXPECT_EQ(unmerged, (Ops{.loads = 1, .stores = 1, .updates = 1}));
  // The offset besides; one store links and frees.
  EXPECT_EQ(merged, (Ops{.loads = 1, .stores = 2, .updates = 1}));
}

// The same, and all four offsets are read; the own one points to the absorbed chunk and is written for that, too.
TEST(CMMallocFidelity, Free) {
  const auto [unmerged, merged] = frees<CMMalloc>({.offset_count = 4});
  EXPECT_EQ(unmerged, (Ops{.loads = 1, .stores = 1, .compare_exchanges = 1, .lost = 1}));
  EXPECT_EQ(merged, (Ops{.loads = 2 + 4, .stores = 3 + 1, .compare_exchanges = 1}));
}

TEST(CFMMallocFidelity, Free) {
  const auto [unmerged, merged] = frees<CFMMalloc>({.offset_count = 4});
  EXPECT_EQ(unmerged, (Ops{.loads = 1, .stores = 1, .updates = 1}));
  EXPECT_EQ(merged, (Ops{.loads = 1 + 4, .stores = 2 + 1, .updates = 1}));
}

TEST(NoMergeFidelity, AFreeOnlyUnlocks) {
  EXPECT_EQ(frees<CMallocNoMerge>().second, (Ops{.stores = 1}));
  EXPECT_EQ(frees<CMMallocNoMerge>().second, (Ops{.stores = 1}));
  // The fused word holds next, too.
  EXPECT_EQ(frees<CFMallocNoMerge>().second, (Ops{.loads = 1, .stores = 1}));
  EXPECT_EQ(frees<CFMMallocNoMerge>().second, (Ops{.loads = 1, .stores = 1}));
}

}  // namespace
}  // namespace allocbench
