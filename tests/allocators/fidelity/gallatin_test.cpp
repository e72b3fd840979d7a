// These tests compare the operations of published Gallatin on shared words with numbers worked out by hand from the
// authors' public code (gallatin.hpp).
#include "allocators/gallatin/gallatin.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// The pool has 32 segments of 64 KiB, so the trees have one layer. A block has 16 slices of 16 B to 4 KiB, and a
// segment of class c has 256 >> c blocks.
constexpr std::size_t pool_bytes = 2 << 20;
constexpr std::uint32_t slices = 16;

Gallatin::Parameters small_segments() {
  Gallatin::Parameters parameters;
  parameters.segment_bytes = 64 << 10;
  return parameters;
}

// A request loads the entry of its SM and adds to the counter of the block.
constexpr Ops take{.loads = 1, .updates = 1};
// A free adds to the counter of the block. It gets the segment's class by a plain load, which is not counted.
constexpr Ops free_one{.updates = 1};
// The request loads the class's tree and the segment's class, subtracts from the free blocks, adds to the taken blocks,
// and stores the counter of the block.
constexpr Ops request_fresh_block{.loads = 2, .stores = 1, .updates = 2};
// One compare-exchange takes the block out of the entry, and another one stores the new block.
constexpr Ops exchange_entry{.compare_exchanges = 2};
// The lane exchanges the counter. In the ring, it takes a number (1 addition), stores the entry, and makes a
// compare-exchange of the order. Then it adds to the free blocks.
constexpr Ops return_block{.stores = 1, .updates = 3, .compare_exchanges = 1};
// For a segment of one block, the lane locks (1 OR), takes a free segment (1 load, 1 AND) and sets the class (1
// compare-exchange). It stores a ring entry and three counters, adds to the free blocks, enters the class's tree (1
// OR), and unlocks (1 AND).
constexpr Ops fetch_segment{.loads = 1, .stores = 4, .updates = 5, .compare_exchanges = 1};

Gallatin::Parameters first_fit() {
  Gallatin::Parameters parameters = small_segments();
  parameters.first_fit = true;
  return parameters;
}

TEST(GallatinFidelity, OneLane) {
  FidelityRig<Gallatin> rig(pool_bytes, small_segments());
  for (const std::uint64_t bytes : {16, 256, 4096}) {
    const Calls calls = rig.counted_malloc({bytes});
    EXPECT_EQ(calls.of_lane[0], take) << bytes;
    EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], free_one) << bytes;
  }
}

TEST(GallatinFidelity, AWarp) {
  // A block has 64 slices, so the warp does not cross its end.
  Gallatin::Parameters parameters = small_segments();
  parameters.max_slice_bytes = 1024;
  FidelityRig<Gallatin> rig(pool_bytes, parameters);
  const Calls calls = rig.warp_mallocs(100);
  EXPECT_EQ(calls.sum(), take);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), free_one);
}

TEST(GallatinFidelity, AWarpOfTwoClasses) {
  FidelityRig<Gallatin> rig(pool_bytes, small_segments());
  std::vector<std::uint64_t> sizes(15, 16);
  for (std::size_t lane = 0; lane < sizes.size(); lane += 2) sizes[lane] = 500;
  EXPECT_EQ(rig.counted_malloc(sizes).sum(), take * 2);
}

TEST(GallatinFidelity, TheEndOfABlock) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  std::vector<void*> blocks;
  for (std::uint32_t i = 1; i < slices; ++i) blocks.push_back(rig.counted_malloc({16}).blocks[0]);
  const Calls last = rig.counted_malloc({16});
  EXPECT_EQ(last.of_lane[0], take + exchange_entry + request_fresh_block);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], take);
  for (void* block : blocks) EXPECT_EQ(rig.counted_free({block}).of_lane[0], free_one);
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0], free_one + return_block);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(GallatinFidelity, SeveralSlices) {
  FidelityRig<Gallatin> rig(pool_bytes, small_segments());
  const Calls calls = rig.counted_malloc({20'000});
  // One addition counts the slices behind the first one, because the free names only the first slice.
  EXPECT_EQ(calls.of_lane[0], take + Ops{.updates = 1});
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], free_one);
}

TEST(GallatinFidelity, SeveralLanesWithSeveralSlices) {
  // A block has 64 slices. Each of 16 lanes takes two slices.
  Gallatin::Parameters parameters = small_segments();
  parameters.max_slice_bytes = 1024;
  FidelityRig<Gallatin> rig(pool_bytes, parameters);
  const Calls calls = rig.counted_malloc(std::vector<std::uint64_t>(16, 2000));
  // The free of a block names only its first slice. One addition counts the other slices of all lanes' blocks.
  EXPECT_EQ(calls.sum(), take + Ops{.updates = 1});
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), free_one);
}

TEST(GallatinFidelity, AStraddlerGoesOnInTheNextBlock) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  rig.counted_malloc({20'000});
  rig.counted_malloc({4096});
  // The block has 16 slices, and 9 are taken. The request needs 8, so it gives the other 7 back. A segment of the
  // largest class has one block. So the segment of the new block leaves the class's tree (1 AND), and the lane fetches
  // the next segment in advance.
  const Ops request = request_fresh_block + Ops{.updates = 1} + fetch_segment;
  const Ops give_back{.updates = 1};
  EXPECT_EQ(rig.counted_malloc({20'000}).of_lane[0],
            take + give_back + exchange_entry + request + take + Ops{.updates = 1});
}

TEST(GallatinFidelity, AWholeBlock) {
  Gallatin::Parameters parameters = first_fit();
  parameters.max_slice_bytes = 1024;
  FidelityRig<Gallatin> rig(pool_bytes, parameters);
  // A block of 16 KiB has 64 slices of 256 B. Its class is 4 of 7, with four blocks per segment.
  const Calls calls = rig.counted_malloc({10'000});
  // The pinned blocks use up the first segment, and the next one is fetched already. One addition takes the slices. The
  // other counts the slices behind the first one, because the free names only the first slice.
  EXPECT_EQ(calls.of_lane[0], request_fresh_block + Ops{.updates = 2});
  // No other block of the segment is in use, so the segment becomes free. This takes a compare-exchange of the free
  // blocks, an AND in the class's tree, a store of the class, and an OR in the free segments.
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0],
            free_one + return_block + (Ops{.stores = 1, .updates = 2, .compare_exchanges = 1}));
}

TEST(GallatinFidelity, AnExhaustedPool) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  while (rig.counted_malloc({4096}).blocks[0] != nullptr) {
  }
  // The request loads four entries and takes its own by a compare-exchange. It loads the class's tree, locks (1 OR),
  // loads the free segments, unlocks (1 AND), and loads the tree again. A compare-exchange makes the entry vacant
  // again.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0], (Ops{.loads = 4 + 1 + 1 + 1, .updates = 2, .compare_exchanges = 2}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(GallatinFidelity, ASearchBeginsAtFifteenRandomPlacesAndThenAtTheLowestSegment) {
  FidelityRig<Gallatin> rig(pool_bytes, small_segments());
  while (rig.counted_malloc({4096}).blocks[0] != nullptr) {
  }
  // The operations are those of AnExhaustedPool and 15 more searches of the class's tree.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0],
            (Ops{.loads = 4 + 16 + 1 + 1, .updates = 2, .compare_exchanges = 2}));
}

TEST(GallatinFidelity, TheSegmentOfALargestBlockNeverEntersItsTreeAgain) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  std::vector<void*> blocks;
  for (std::uint32_t i = 0; i < slices; ++i) blocks.push_back(rig.counted_malloc({4096}).blocks[0]);
  for (std::uint32_t i = 1; i < slices; ++i) rig.counted_free({blocks[i]});
  // The segment has one block, so it becomes free immediately. This takes a compare-exchange of the free blocks, an AND
  // in the class's tree, a store of the class, and an OR in the free segments.
  EXPECT_EQ(rig.counted_free({blocks[0]}).of_lane[0],
            free_one + return_block + (Ops{.stores = 1, .updates = 2, .compare_exchanges = 1}));
}

TEST(GallatinFidelity, ASegmentEntersItsTreeAgainAtATenthOfItsBlocks) {
  // A segment of 2 KiB slices has two blocks. The free of the first block does not enter the segment into its tree
  // again. The free of the second block does.
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  std::vector<void*> blocks;
  while (void* block = rig.counted_malloc({2048}).blocks[0]) blocks.push_back(block);
  ASSERT_GT(blocks.size(), 4 * slices);
  const auto& heap = rig.allocator.heap();
  const std::size_t segment_bytes = std::size_t{1} << heap.segment_log2;
  // The test frees both blocks of the segment that was fetched last.
  const auto segment_of = [&](void* block) { return heap.offset_of(block) / segment_bytes; };
  const std::size_t segment = segment_of(blocks.back());
  std::vector<void*> first;
  std::vector<void*> second;
  for (void* block : blocks) {
    if (segment_of(block) != segment) continue;
    (heap.offset_of(block) % segment_bytes < segment_bytes / 2 ? first : second).push_back(block);
  }
  ASSERT_EQ(first.size(), slices);
  ASSERT_EQ(second.size(), slices);
  const auto free_all = [&](const std::vector<void*>& of_block) {
    Ops last;
    for (void* block : of_block) last = rig.counted_free({block}).of_lane[0];
    return last;
  };
  EXPECT_EQ(free_all(first), free_one + return_block);
  // The segment enters the tree (1 OR). Then it becomes free: a compare-exchange of the free blocks, an AND in the
  // tree, a store of the class, and an OR in the free segments.
  EXPECT_EQ(free_all(second), free_one + return_block + (Ops{.stores = 1, .updates = 3, .compare_exchanges = 1}));
}

}  // namespace
}  // namespace allocbench
