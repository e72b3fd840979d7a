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

// 32 segments of 64 KiB; slices of 16 B to 4 KiB, 16 per block: class c has 256 >> c blocks per segment. One layer of
// trees.
constexpr std::size_t pool_bytes = 2 << 20;
constexpr std::uint32_t slices = 16;

Gallatin::Parameters small_segments() {
  Gallatin::Parameters parameters;
  parameters.segment_bytes = 64 << 10;
  return parameters;
}

// Entry of the SM 1 load, counter of the block 1 addition.
constexpr Ops take{.loads = 1, .updates = 1};
// Counter of the block 1 addition. The class of the segment comes from the cache by a plain load, which nobody counts.
constexpr Ops free_one{.updates = 1};
// Class's tree 1 load; free blocks 1 subtraction; class of the segment 1 load; blocks taken 1 addition; counter of the
// block 1 store.
constexpr Ops request_fresh_block{.loads = 2, .stores = 1, .updates = 2};
// The entry loses its block and gets a new one: 2 compare-exchanges.
constexpr Ops exchange_entry{.compare_exchanges = 2};
// Counter 1 exchange. Ring: number 1 addition, entry 1 store, order 1 compare-exchange. Free blocks 1 addition.
constexpr Ops return_block{.stores = 1, .updates = 3, .compare_exchanges = 1};
// Of one block: lock 1 OR. Free segments 1 load
// and 1 AND, class 1 compare-exchange, ring 1 store, counters 3 stores, free blocks 1 addition, class's tree 1 OR,
// unlock 1 AND.
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
  // 32 slices per block, so that a warp does not cross its end.
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
  // The slices that no free will name 1 addition.
  EXPECT_EQ(calls.of_lane[0], take + Ops{.updates = 1});
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], free_one);
}

TEST(GallatinFidelity, SeveralLanesWithSeveralSlices) {
  // 64 slices per block; 16 lanes take two each.
  Gallatin::Parameters parameters = small_segments();
  parameters.max_slice_bytes = 1024;
  FidelityRig<Gallatin> rig(pool_bytes, parameters);
  const Calls calls = rig.counted_malloc(std::vector<std::uint64_t>(16, 2000));
  // The slices that no free will name 1 addition for all.
  EXPECT_EQ(calls.sum(), take + Ops{.updates = 1});
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), free_one);
}

TEST(GallatinFidelity, AStraddlerGoesOnInTheNextBlock) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  rig.counted_malloc({20'000});
  rig.counted_malloc({4096});
  // 9 of 16 slices are gone: 8 do not fit, and the other 7 are given back. The largest class has one block per segment,
  // so the new block is a segment's last: out of the class's tree 1 AND, and the next segment in advance.
  const Ops request = request_fresh_block + Ops{.updates = 1} + fetch_segment;
  const Ops give_back{.updates = 1};
  EXPECT_EQ(rig.counted_malloc({20'000}).of_lane[0],
            take + give_back + exchange_entry + request + take + Ops{.updates = 1});
}

TEST(GallatinFidelity, AWholeBlock) {
  Gallatin::Parameters parameters = first_fit();
  parameters.max_slice_bytes = 1024;
  FidelityRig<Gallatin> rig(pool_bytes, parameters);
  // 16 KiB: 64 slices of 256 B, class 4 of 7, four blocks per segment.
  const Calls calls = rig.counted_malloc({10'000});
  // The pinned blocks have emptied the first segment, and the next one is there. Slices and what no free will name: 2
  // additions.
  EXPECT_EQ(calls.of_lane[0], request_fresh_block + Ops{.updates = 2});
  // The only block of its segment that is in use: free blocks 1 compare-exchange, class's tree 1 AND, class 1 store,
  // free segments 1 OR.
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0],
            free_one + return_block + (Ops{.stores = 1, .updates = 2, .compare_exchanges = 1}));
}

TEST(GallatinFidelity, AnExhaustedPool) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  while (rig.counted_malloc({4096}).blocks[0] != nullptr) {
  }
  // 4 entries, own one 1 compare-exchange; class's tree 1 load, lock 1 OR, free segments 1 load, unlock 1 AND, class's
  // tree once more; entry vacant again 1 compare-exchange.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0], (Ops{.loads = 4 + 1 + 1 + 1, .updates = 2, .compare_exchanges = 2}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(GallatinFidelity, ASearchBeginsAtFifteenRandomPlacesAndThenAtTheLowestSegment) {
  FidelityRig<Gallatin> rig(pool_bytes, small_segments());
  while (rig.counted_malloc({4096}).blocks[0] != nullptr) {
  }
  // As above, but 15 searches of the class's tree more.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0],
            (Ops{.loads = 4 + 16 + 1 + 1, .updates = 2, .compare_exchanges = 2}));
}

TEST(GallatinFidelity, TheSegmentOfALargestBlockNeverEntersItsTreeAgain) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  std::vector<void*> blocks;
  for (std::uint32_t i = 0; i < slices; ++i) blocks.push_back(rig.counted_malloc({4096}).blocks[0]);
  for (std::uint32_t i = 1; i < slices; ++i) rig.counted_free({blocks[i]});
  // One block per segment: the segment is free at once. Free blocks 1 compare-exchange, class's tree 1 AND, class
  // 1 store, free segments 1 OR.
  EXPECT_EQ(rig.counted_free({blocks[0]}).of_lane[0],
            free_one + return_block + (Ops{.stores = 1, .updates = 2, .compare_exchanges = 1}));
}

TEST(GallatinFidelity, ASegmentEntersItsTreeAgainAtATenthOfItsBlocks) {
  // Two blocks per segment of 2 KiB slices: at the second block, not at the first.
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  std::vector<void*> blocks;
  while (void* block = rig.counted_malloc({2048}).blocks[0]) blocks.push_back(block);
  ASSERT_GT(blocks.size(), 4 * slices);
  const auto& heap = rig.allocator.heap();
  const std::size_t segment_bytes = std::size_t{1} << heap.segment_log2;
  // Takes both blocks of the last fetched segment.
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
  // In 1 OR; then the segment is free: free blocks 1 compare-exchange, out 1 AND, class 1 store, free segments 1 OR.
  EXPECT_EQ(free_all(second), free_one + return_block + (Ops{.stores = 1, .updates = 3, .compare_exchanges = 1}));
}

}  // namespace
}  // namespace allocbench
