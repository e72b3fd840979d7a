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

constexpr std::uint32_t many = 1 << 20;  // so many pages that 32 lanes hardly ever meet
constexpr std::size_t page = 16;

template <class A>
typename A::Parameters small_pages() {
  typename A::Parameters parameters;
  parameters.page_bytes = page;
  return parameters;
}

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Lines 3 and 4 load the flag and then set it.
constexpr Ops look{.loads = 1};
constexpr Ops set_flag{.updates = 1};
// In algorithm 2, a probe locks, loads the word, sets the bit, and releases the lock. A vain probe sets no bit.
constexpr Ops vain_probe{.loads = 1, .updates = 2};
constexpr Ops probe{.loads = 1, .updates = 3};
// A walk gives up when it is 99 % certain that less than 0.5 % of the pages are free. This takes 32 probes in a bitmap
// of one word, and 34 probes in a bitmap of two words.
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

// In a pool of four pages, a walk makes 32 probes per page.
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

// The whole warp has one word. A lane that does not get the lock reads nothing and tries again.
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

// A word of 64 bits takes the same operations, and 64 requests find their pages in one word.
TEST(RwBm64Fidelity, AWordHasSixtyFourPages) {
  FidelityRig<RandomWalkBitmap64> rig(64 * page, small_pages<RandomWalkBitmap64>());
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], probe);
  for (int i = 1; i < 64; ++i) {
    const Calls calls = rig.counted_malloc({16});
    EXPECT_EQ(calls.of_lane[0], probe);
    EXPECT_EQ(rig.offset(calls.blocks[0]), i * static_cast<std::ptrdiff_t>(page)) << "the lowest free page";
  }
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], vain_probe * 17);  // 1,076 / 64, rounded up
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

// A thread loads its last page once per kernel.
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

// If the word of the page after the last page is full, the walk of RW-BM follows.
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

// The whole warp has one word. One lane locks and loads it, sets 32 bits one by one, and releases it. Each other lane
// fails to get the lock once and receives a page.
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

// In algorithm 6, a lane loads its own word, sets the bits of the run (1 OR), and stores the length.
constexpr Ops one_run{.loads = 1, .stores = 1, .updates = 1};

TEST(RwMallocFidelity, OneLane) {
  FidelityRig<RandomWalkMalloc> rig(1 << 20);
  const Calls mallocs = rig.counted_malloc({4096});
  EXPECT_EQ(mallocs.of_lane[0], one_run);
  // The free loads the length and clears the bits (1 AND).
  EXPECT_EQ(rig.counted_free(mallocs.blocks).of_lane[0], (Ops{.loads = 1, .updates = 1}));
}

// The run of lane t's word goes to the lowest lane that still needs one.
TEST(RwMallocFidelity, EveryLaneOfAWarpTakesARun) {
  FidelityRig<RandomWalkMalloc> rig(1 << 20);
  for (const Ops& ops : rig.warp_mallocs(4096).of_lane) EXPECT_EQ(ops, one_run);
}

// One lane takes two pages for 32 requests of 16 bytes. The 16 parts of the second page say where the first page is.
TEST(RwMallocFidelity, SmallRequestsOfAWarpAreOneRequest) {
  FidelityRig<RandomWalkMalloc> rig(1 << 20);
  const Calls mallocs = rig.warp_mallocs(16);
  EXPECT_EQ(mallocs.sum(), (Ops{.loads = 32, .stores = 1 + 16, .updates = 1}));
  // Each lane loads the word of its page and lowers the count of the run's members. The last lane clears the bits.
  EXPECT_EQ(rig.counted_free(mallocs.blocks).sum(), (Ops{.loads = 32, .updates = 32 + 1}));
}

// Both lanes load the only word and choose the same run of 16 of its 32 pages. The lower lane takes this run. The OR of
// the other lane fails, and its AND takes back nothing. In a second round, that lane takes the other 16 pages.
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
