// These tests compare the operations of RW, RW-BM, CRW, CoRW and RW_malloc with algorithms 1, 2, 3, 5 and 6 of Pham et
// al. 2025, worked out by hand.
#include <gtest/gtest.h>

#include "allocators/random_walk/corw.hpp"
#include "allocators/random_walk/crw.hpp"
#include "allocators/random_walk/rw.hpp"
#include "allocators/random_walk/rw_bm.hpp"
#include "allocators/random_walk/rw_malloc.hpp"
#include "tests/allocators/fidelity/rig.hpp"
#include "workloads/support/random/page_set.hpp"

namespace allocbench {
namespace {

using random_walk::ClusteredParameters;
using random_walk::PageParameters;
using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::uint32_t many = 1 << 20;  // pages; 32 lanes hardly ever meet
constexpr std::size_t page = 16;

template <class A>
typename A::Parameters small_pages() {
  typename A::Parameters parameters;
  parameters.page_bytes = page;
  return parameters;
}

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Lines 3 and 4: the flag is read, then set.
constexpr Ops look{.loads = 1};
constexpr Ops set_flag{.updates = 1};
// Algorithm 2: lock 1, word 1, its bit 1; the lock is released 1.
constexpr Ops vain_probe{.loads = 1, .updates = 2};
constexpr Ops probe{.loads = 1, .updates = 3};
// 99 % certain that less than 0.5 % is free, in a bitmap of one word: 32 words seen; of two: 34.
constexpr std::uint64_t vain_words = 32;
constexpr std::uint64_t vain_of_two_words = 34;

TEST(RwFidelity, OneLane) {
  FidelityRig<RandomWalk> rig(many * page, small_pages<RandomWalk>());
  const Calls mallocs = rig.counted_malloc({16});
  EXPECT_EQ(mallocs.of_lane[0], look + set_flag);
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], (Ops{.stores = 1}));
}

TEST(RwFidelity, EveryLaneOfAWarpWalksByItself) {
  FidelityRig<RandomWalk> rig(many * page, small_pages<RandomWalk>());
  for (const Ops& ops : rig.warp_mallocs(16).of_lane) EXPECT_EQ(ops, look + set_flag);
}

// 32 probes per page in a small pool.
TEST(RwFidelity, AFullPoolIsOnlyRead) {
  FidelityRig<RandomWalk> rig(4 * page, small_pages<RandomWalk>());
  rig.allocator.occupy(rig.stream(), PageSet::first(4));
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], look * 128);
}

TEST(RwBmFidelity, OneLane) {
  FidelityRig<RandomWalkBitmap> rig(many * page, small_pages<RandomWalkBitmap>());
  const Calls mallocs = rig.counted_malloc({16});
  EXPECT_EQ(mallocs.of_lane[0], probe);
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], (Ops{.updates = 1}));
}

TEST(RwBmFidelity, EveryLaneOfAWarpWalksByItself) {
  FidelityRig<RandomWalkBitmap> rig(many * page, small_pages<RandomWalkBitmap>());
  for (const Ops& ops : rig.warp_mallocs(16).of_lane) EXPECT_EQ(ops, probe);
}

// One word for a whole warp: a lane that loses the lock reads nothing, and tries again.
TEST(RwBmFidelity, ALostLockIsOneUpdate) {
  FidelityRig<RandomWalkBitmap> rig(32 * page, small_pages<RandomWalkBitmap>());
  std::uint64_t lost = 0;
  for (const Ops& ops : rig.warp_mallocs(16).of_lane) {
    EXPECT_EQ(ops.loads, 1u);
    EXPECT_GE(ops.updates, 3u);
    lost += ops.updates - 3;
  }
  EXPECT_GE(lost, 31u);
}

TEST(RwBmFidelity, AFullPoolIsLockedAndRead) {
  FidelityRig<RandomWalkBitmap> rig(32 * page, small_pages<RandomWalkBitmap>());
  rig.allocator.occupy(rig.stream(), PageSet::first(32));
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], vain_probe * vain_words);
}

// The same operations on words of 64 bits: the lanes of two warps find their pages in one word.
TEST(RwBm64Fidelity, AWordHasSixtyFourPages) {
  FidelityRig<RandomWalkBitmap64> rig(64 * page, small_pages<RandomWalkBitmap64>());
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], probe);
  for (int i = 1; i < 64; ++i) {
    const Calls calls = rig.counted_malloc({16});
    EXPECT_EQ(calls.of_lane[0], probe);
    EXPECT_EQ(rig.offset(calls.blocks[0]), i * static_cast<std::ptrdiff_t>(page)) << "the lowest free page";
  }
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], vain_probe * 17);  // 1,076 / 64
}

TEST(Crw64Fidelity, LooksAtTheWordOfTheNextPage) {
  FidelityRig<ClusteredRandomWalk64> rig(many * page, small_pages<ClusteredRandomWalk64>());
  const std::ptrdiff_t first = rig.offset(rig.malloc({16})[0]);
  EXPECT_EQ(first % (64 * static_cast<std::ptrdiff_t>(page)), 0) << "the first page of a word";
  for (int i = 1; i < 64; ++i)
    EXPECT_EQ(rig.offset(rig.malloc({16})[0]), first + i * static_cast<std::ptrdiff_t>(page));
}

TEST(Corw64Fidelity, OneLaneServesTwoWarps) {
  FidelityRig<CollaborativeRandomWalk64> rig(64 * page, small_pages<CollaborativeRandomWalk64>());
  for (int warp = 0; warp < 2; ++warp) {
    const Calls mallocs = rig.warp_mallocs(16);
    EXPECT_EQ(mallocs.sum(), (Ops{.loads = 1, .updates = 1 + 32 + 1 + 31}));
    EXPECT_EQ(std::count(mallocs.blocks.begin(), mallocs.blocks.end(), nullptr), 0);
  }
}

// The last page of the thread is read once per kernel: 1 load.
constexpr Ops last_page{.loads = 1};

TEST(CrwFidelity, OneLane) {
  FidelityRig<ClusteredRandomWalk> rig(many * page, small_pages<ClusteredRandomWalk>());
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], last_page + probe) << "no last page: a walk";
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], last_page + probe) << "beside the last page";
}

TEST(CrwFidelity, EveryLaneOfAWarpWalksByItself) {
  FidelityRig<ClusteredRandomWalk> rig(many * page, small_pages<ClusteredRandomWalk>());
  for (const Ops& ops : rig.warp_mallocs(16).of_lane) EXPECT_EQ(ops, last_page + probe);
}

// Where nothing is free beside the last page, the walk of RW-BM follows.
TEST(CrwFidelity, AFullPool) {
  FidelityRig<ClusteredRandomWalk> rig(64 * page, small_pages<ClusteredRandomWalk>());
  rig.malloc({16});
  rig.allocator.occupy(rig.stream(), PageSet::first(64));
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], last_page + vain_probe + vain_probe * vain_of_two_words);
}

TEST(CorwFidelity, OneLane) {
  FidelityRig<CollaborativeRandomWalk> rig(many * page, small_pages<CollaborativeRandomWalk>());
  const Calls mallocs = rig.counted_malloc({16});
  EXPECT_EQ(mallocs.of_lane[0], probe);
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], (Ops{.updates = 1}));
}

TEST(CorwFidelity, EveryLaneOfAWarpGivesOnePage) {
  FidelityRig<CollaborativeRandomWalk> rig(many * page, small_pages<CollaborativeRandomWalk>());
  for (const Ops& ops : rig.warp_mallocs(16).of_lane) EXPECT_EQ(ops, probe);
}

// One word for a whole warp: one lane locks it 1, reads it 1, sets 32 bits one by one, releases it 1. The others lose
// the lock 1 each and receive.
TEST(CorwFidelity, OneLaneServesAWarp) {
  FidelityRig<CollaborativeRandomWalk> rig(32 * page, small_pages<CollaborativeRandomWalk>());
  const Calls mallocs = rig.warp_mallocs(16);
  EXPECT_EQ(mallocs.sum(), (Ops{.loads = 1, .updates = 1 + 32 + 1 + 31}));
  EXPECT_EQ(std::count(mallocs.blocks.begin(), mallocs.blocks.end(), nullptr), 0);
}

TEST(CorwFidelity, AFullPool) {
  FidelityRig<CollaborativeRandomWalk> rig(32 * page, small_pages<CollaborativeRandomWalk>());
  rig.allocator.occupy(rig.stream(), PageSet::first(32));
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], vain_probe * vain_words);
}

// Algorithm 6: the own word 1, the bits of the run 1 OR; the length 1 store.
constexpr Ops one_run{.loads = 1, .stores = 1, .updates = 1};

TEST(RwMallocFidelity, OneLane) {
  FidelityRig<RandomWalkMalloc> rig(1 << 20);
  const Calls mallocs = rig.counted_malloc({4096});
  EXPECT_EQ(mallocs.of_lane[0], one_run);
  // Length 1, bits 1 AND.
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], (Ops{.loads = 1, .updates = 1}));
}

// The run of lane t's word goes to the lowest lane that still needs one.
TEST(RwMallocFidelity, EveryLaneOfAWarpTakesARun) {
  FidelityRig<RandomWalkMalloc> rig(1 << 20);
  for (const Ops& ops : rig.warp_mallocs(4096).of_lane) EXPECT_EQ(ops, one_run);
}

// 32 times 16 bytes are two pages, taken by one lane. The 16 parts of the second page say where the first one is.
TEST(RwMallocFidelity, SmallRequestsOfAWarpAreOneRequest) {
  FidelityRig<RandomWalkMalloc> rig(1 << 20);
  const Calls mallocs = rig.warp_mallocs(16);
  EXPECT_EQ(mallocs.sum(), (Ops{.loads = 32, .stores = 1 + 16, .updates = 1}));
  // Each reads its page's word and counts itself out; the last one clears the bits.
  EXPECT_EQ(rig.counted_free(mallocs.blocks).sum(), (Ops{.loads = 32, .updates = 32 + 1}));
}

// Both lanes see the only word, and are offered the same run of 32. The lower one takes it. The other's OR fails, an
// AND takes back nothing; it takes the rest in a second round.
TEST(RwMallocFidelity, AFailedRunIsTakenBack) {
  FidelityRig<RandomWalkMalloc> rig(8192);
  const Calls mallocs = rig.counted_malloc({4096, 4096});
  EXPECT_EQ(mallocs.of_lane[0], (Ops{.loads = 2, .stores = 1, .updates = 1}));
  EXPECT_EQ(mallocs.of_lane[1], (Ops{.loads = 2, .stores = 1, .updates = 3}));
}

TEST(RwMallocFidelity, AFullPoolIsOnlyRead) {
  FidelityRig<RandomWalkMalloc> rig(8192);
  rig.malloc({8192});
  const Calls mallocs = rig.counted_malloc({256});
  EXPECT_EQ(mallocs.blocks[0], nullptr);
  EXPECT_EQ(mallocs.of_lane[0], look * vain_words);
}

}  // namespace
}  // namespace allocbench
