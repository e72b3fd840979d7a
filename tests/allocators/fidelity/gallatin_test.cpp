// Gallatin as published: operations on shared words, worked by hand from its fact sheet.
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
// Class of the segment 1 load, counter of the block 1 addition.
constexpr Ops free_one{.loads = 1, .updates = 1};
// Class's tree 1 load; free blocks 1 subtraction; class of the segment 1 load; blocks taken 1 addition; counter of the
// block 1 store.
constexpr Ops request_fresh_block{.loads = 2, .stores = 1, .updates = 2};
// The entry loses its block and gets a new one: 2 compare-exchanges.
constexpr Ops exchange_entry{.compare_exchanges = 2};
// Counter 1 store. Ring: number 1 addition, entry 1 store, order 1 load and 1 store. Free blocks 1 addition.
constexpr Ops return_block{.loads = 1, .stores = 3, .updates = 2};
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
  // Each lane its class, the group its counter.
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (Ops{.loads = 32, .updates = 1}));
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
  EXPECT_EQ(rig.counted_free(calls.blocks).sum().stores, 3u + 1u);
}

TEST(GallatinFidelity, AnExhaustedPool) {
  FidelityRig<Gallatin> rig(pool_bytes, first_fit());
  while (rig.counted_malloc({4096}).blocks[0] != nullptr) {
  }
  // 30 probes, own entry 1 compare-exchange; class's tree twice, lock 1 OR, free segments 1 load, unlock 1 AND, class's
  // tree once more; entry vacant again 1 compare-exchange.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0],
            (Ops{.loads = 30 + 2 + 1 + 1, .updates = 2, .compare_exchanges = 2}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
