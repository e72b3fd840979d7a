// These tests compare the operations of CMalloc, CFMalloc, CMMalloc and CFMMalloc with Algorithm 3 of Vinkler & Havran
// 2015, worked out by hand, and with section 4.3 for the fused forms.
//
// The pool of 64 KiB has 4,094 granules: one heap of nine levels (a root of 256 granules at 0, two chunks of 128, four
// of 64, and so on) and a last chunk of 1,790. A request of 100 B takes 7 granules with its header.
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

// Form describes a published form. In a fused form, flag and next are one word.
template <class A, bool is_fused>
struct Form {
  using Allocator = A;
  static constexpr bool fused = is_fused;

  // Lines 5 and 6 make a compare-exchange of the flag and a load of next. A fused form makes one OR.
  static constexpr Ops lock_won = fused ? Ops{.updates = 1} : Ops{.loads = 1, .compare_exchanges = 1};
  static constexpr Ops lock_lost = fused ? Ops{.updates = 1} : Ops{.loads = 1, .compare_exchanges = 1, .lost = 1};
  // Line 11 stores the flag.
  static constexpr Ops unlock{.stores = 1};
  // Lines 17, 18 and 20 store flag and next of the new header and next of the old one. A fused form makes one store for
  // each header.
  static constexpr Ops split{.stores = fused ? 2u : 3u};
  // Line 2 loads the offset, and line 21 stores it.
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

// In lockstep, all lanes try the root, all but one try the next chunk, and so on. So the lanes fail to lock 0 to 31
// chunks. Every lane splits its chunk, because the smallest of the first 32 chunks has 8 granules and a request takes
// 2. No lane looks before it locks, and no lane requests for another.
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

// The root is taken. The lane locks the other 510 chunks of the heap, finds them too small and unlocks them. The last
// chunk serves the request.
TYPED_TEST(CircularFidelity, AWalkLocksEveryChunkThatIsTooSmall) {
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes);
  rig.malloc({4000});
  EXPECT_EQ(rig.counted_malloc({3000}).of_lane[0],
            TypeParam::look_up_offset + (TypeParam::lock_won + TypeParam::unlock) * (chunks - 2) + TypeParam::lock_won +
                TypeParam::split + TypeParam::leave_offset);
}

// The offset moves on with every request. The request that reaches the levels of small chunks passes all of them: 496
// chunks of 1 to 16 granules, while 256 bytes need 17. Each earlier request locks one or two chunks.
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

// The steps suffice for two laps over all chunks and the end marker, which is in use.
TYPED_TEST(CircularFidelity, AnExhaustedPoolIsWalkedUntilTheStepsAreUsedUp) {
  circular::CircularParameters parameters;
  parameters.max_steps = 2 * (chunks + 1);
  FidelityRig<typename TypeParam::Allocator> rig(pool_bytes, parameters);
  const Calls mallocs = rig.counted_malloc({50'000});
  EXPECT_EQ(mallocs.blocks[0], nullptr);
  EXPECT_EQ(mallocs.of_lane[0], TypeParam::look_up_offset +
                                    ((TypeParam::lock_won + TypeParam::unlock) * chunks + TypeParam::lock_lost) * 2);
}

// Frees the first of two neighbouring blocks, then the second. The chunk behind the first is in use, and the chunk
// behind the second is free. Returns the operations of both frees.
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
  // Line 26 loads the chunk's next, line 27 fails to lock the neighbour, and line 33 stores the chunk's flag.
  EXPECT_EQ(unmerged, (Ops{.loads = 1, .stores = 1, .compare_exchanges = 1, .lost = 1}));
  // Line 26 does the same, and line 27 locks the neighbour. Line 29 loads the neighbour's next, and lines 30, 31 and 33
  // store the offset, the chunk's next and the chunk's flag.
  EXPECT_EQ(merged, (Ops{.loads = 2, .stores = 3, .compare_exchanges = 1}));
}

TEST(CFMallocFidelity, Free) {
  const auto [unmerged, merged] = frees<CFMalloc>();
  // The free loads its own word, makes an OR of the neighbour's word, and stores its own word.
  EXPECT_EQ(unmerged, (Ops{.loads = 1, .stores = 1, .updates = 1}));
  // The free also stores the offset. One store of its own word links and unlocks.
  EXPECT_EQ(merged, (Ops{.loads = 1, .stores = 2, .updates = 1}));
}

// The merge makes the operations of CMalloc's merge and loads all four offsets. One offset points to the absorbed
// chunk, so the merge stores it once more.
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
  // The fused word also has next, so the free loads the word first.
  EXPECT_EQ(frees<CFMallocNoMerge>().second, (Ops{.loads = 1, .stores = 1}));
  EXPECT_EQ(frees<CFMMallocNoMerge>().second, (Ops{.loads = 1, .stores = 1}));
}

}  // namespace
}  // namespace allocbench
