// These tests compare the operations of published ScatterAlloc on shared words with numbers worked out by hand from
// Steinberger et al. 2012 and the authors' code.
#include "allocators/scatteralloc/scatteralloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using scatteralloc::PageUsage;
using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

// One region of 16 pages of 4 KiB: every hash below is a multiple of 16 for warp slot 0, so walks start at page 0.
constexpr std::size_t one_region = 16 * (4096 + sizeof(PageUsage)) + 4;

// Access block in use 1 load; counter of the region 1 load.
constexpr Ops begin_walk{.loads = 2};
// Chunk size 1 load, 1 compare-exchange from 0.
constexpr Ops format{.loads = 1, .compare_exchanges = 1};
// Count 1 addition; chunk size again 1 load; bit 1 OR.
constexpr Ops use_flat{.loads = 1, .updates = 2};
// The same and the segments seen full 1 load.
constexpr Ops use_two_level{.loads = 2, .updates = 2};
// A page that is full: chunk size 1 load; count 1 addition, chunk size again 1 load, count 1 subtraction.
constexpr Ops full_page{.loads = 2, .updates = 2};
// Lock: compare-exchange of the count; 8 words of bits, chunk size; unlock: subtraction.
constexpr Ops reset_page{.stores = 9, .updates = 1, .compare_exchanges = 1};

Ops operator+(Ops a, const Ops& b) { return a += b; }

TEST(ScatterAllocFidelity, OneLane) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls flat = rig.counted_malloc({256});
  EXPECT_EQ(flat.of_lane[0], begin_walk + format + use_flat);
  // Chunk size 1 load; bit 1 AND; count 1 subtraction.
  EXPECT_EQ(rig.counted_free(flat.blocks).of_lane[0], (Ops{.loads = 1, .updates = 2}) + reset_page);
  const Calls two_level = rig.counted_malloc({16});
  EXPECT_EQ(two_level.of_lane[0], begin_walk + format + use_two_level);
  // Chunk size 1 load; bit on the page 1 AND; its segment is not full 1 AND; count 1 subtraction.
  EXPECT_EQ(rig.counted_free(two_level.blocks).of_lane[0], (Ops{.loads = 1, .updates = 3}) + reset_page);
}

TEST(ScatterAllocFidelity, OneLaneWithoutPageReset) {
  FidelityRig<ScatterAllocNoReset> rig(one_region);
  const Calls calls = rig.counted_malloc({256});
  // As above, without the second look at the chunk size.
  EXPECT_EQ(calls.of_lane[0], begin_walk + format + (Ops{.updates = 2}));
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.loads = 1, .updates = 2}));
}

TEST(ScatterAllocFidelity, AWarpSharesAChunk) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls calls = rig.warp_mallocs(16);
  // The first lane gets a flat chunk of 16 + 32 * 16 bytes and stores the number of members; the others do nothing.
  EXPECT_EQ(calls.of_lane[0], begin_walk + format + use_flat + (Ops{.stores = 1}));
  EXPECT_EQ(calls.sum(), calls.of_lane[0]);
  // Each member: chunk size 1 load, members 1 subtraction. The last one frees the chunk: bit, count, reset.
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(),
            (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.updates = 2}) + reset_page);
}

TEST(ScatterAllocFidelity, AWarpWithoutCoalescingFillsPagesLaneByLane) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls calls = rig.warp_mallocs(256);
  // 16 chunks per page. All lanes see page 0 unformatted; one formats it, all add. 16 get the bit of their lane, the
  // others subtract and go to page 1, where they do the same among themselves.
  const Ops one_of_many = begin_walk + format;
  const Ops too_many{.loads = 1, .updates = 2};
  Ops expected = one_of_many * 32 + use_flat * 16 + too_many * 16 + (format + use_flat) * 16;
  // A lane that looks after another one has formatted the page spares its compare-exchange.
  const Ops sum = calls.sum();
  EXPECT_EQ(sum.compare_exchanges - sum.lost, 2u);
  EXPECT_LE(sum.compare_exchanges, expected.compare_exchanges);
  EXPECT_GT(sum.compare_exchanges, expected.compare_exchanges / 2);
  expected.compare_exchanges = sum.compare_exchanges;
  expected.lost = sum.lost;
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 0);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(rig.offset(calls.blocks[lane]), static_cast<std::ptrdiff_t>(lane * 256));
  }
}

TEST(ScatterAllocFidelity, AFullPage) {
  FidelityRig<ScatterAlloc> rig(one_region);
  // 254 chunks of 16 bytes. One lane at a time begins at segment 0, bit 0, and moves on to the next clear bit: from the
  // second on two ORs, and a third one for the first chunk of a segment, after marking the segment before as full.
  for (std::uint32_t i = 0; i < 254; ++i) {
    const Calls calls = rig.counted_malloc({16});
    ASSERT_EQ(rig.offset(calls.blocks[0]), static_cast<std::ptrdiff_t>(i * 16));
    Ops expected = begin_walk + (i == 0 ? format : Ops{.loads = 1}) + use_two_level;
    if (i % 32 != 0) expected += {.updates = 1};            // bit 0 was set
    if (i != 0 && i % 32 == 0) expected += {.updates = 2};  // bit 0 of a full segment; mark
    EXPECT_EQ(calls.of_lane[0], expected) << i;
  }
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], begin_walk + full_page + format + use_two_level);
}

TEST(ScatterAllocFidelity, AnExhaustedPool) {
  FidelityRig<ScatterAlloc> rig(one_region);
  for (int page = 0; page < 16; ++page) ASSERT_NE(rig.counted_malloc({4080}).blocks[0], nullptr);
  const Calls calls = rig.counted_malloc({4080});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // Access block 1 load. Two passes: counter of the region 1 load, 16 full pages, counter 1 maximum.
  EXPECT_EQ(calls.of_lane[0], (Ops{.loads = 1}) + ((Ops{.loads = 1, .updates = 1}) + full_page * 16) * 2);
}

TEST(ScatterAllocFidelity, RegionsThatFailedTwelveTimesAreSkippedInPass1) {
  FidelityRig<ScatterAlloc> rig(one_region);
  for (int page = 0; page < 16; ++page) rig.counted_malloc({4080});
  for (int i = 0; i < 6; ++i) rig.counted_malloc({4080});  // each counts the region twice
  // Pass 1: counter 1 load. Pass 2 as above.
  EXPECT_EQ(rig.counted_malloc({4080}).of_lane[0],
            (Ops{.loads = 2}) + (Ops{.loads = 1, .updates = 1}) + full_page * 16);
}

// The two access blocks have six pages each, with one chunk per page. Walks start at page 4 of a block, because
// 992 * 38183 modulo 6 is 4.
TEST(ScatterAllocFidelity, AWalkNamesTheAccessBlockThatItWentThroughButNotTheOneWhereItStarted) {
  scatteralloc::ScatterParameters parameters;
  parameters.page_bytes = 1024;
  parameters.region_pages = 2;
  parameters.access_blocks = 2;
  FidelityRig<ScatterAlloc> rig(6 * (2 * (1024 + sizeof(PageUsage)) + 4), parameters);
  const auto block_in_use = [&] {
    std::uint32_t block;
    simt::copy_to_host(rig.stream(), &block, rig.allocator.first_block(), sizeof block);
    return block;
  };
  // Pass 1 skips a region after two failed walks. Each failed walk looks at two full pages.
  constexpr Ops load{.loads = 1};
  const Ops full_region = load + full_page * 2 + Ops{.updates = 1};
  constexpr Ops name_block{.stores = 1};
  const Ops new_page = format + use_flat;
  const struct {
    std::ptrdiff_t page;
    Ops ops;
    std::uint32_t block_in_use;
  } expected[] = {
      {4, begin_walk + new_page, 0},
      {5, begin_walk + full_page + new_page, 0},
      {6, load + full_region + load + new_page, 0},  // The walk leaves block 0.
      {7, load + full_region + load + full_page + new_page, 0},
      {8, load * 2 + full_region + load + new_page, 0},
      {9, load * 2 + full_region + load + full_page + new_page, 0},
      {10, load * 3 + full_region + load + new_page, 0},
      {11, load * 3 + full_region + load + full_page + new_page, 0},
      {0, load * 4 + full_region + name_block + load + new_page,
       1},                                                       // The walk has gone through block 1 and is in pass 2.
      {1, load + full_region + load + full_page + new_page, 1},  // The walk starts at page 10.
      {2, load * 2 + full_region + load + new_page, 1},          // Pass 1 skips the region of page 10.
      {3, load * 2 + full_region + load + full_page + new_page, 1},
  };
  for (const auto& each : expected) {
    const Calls calls = rig.counted_malloc({992});
    EXPECT_EQ(rig.offset(calls.blocks[0]), each.page * 1024);
    EXPECT_EQ(calls.of_lane[0], each.ops) << "page " << each.page;
    EXPECT_EQ(block_in_use(), each.block_in_use) << "page " << each.page;
  }
  const Calls none = rig.counted_malloc({992});
  EXPECT_EQ(none.blocks[0], nullptr);
  EXPECT_EQ(none.of_lane[0], load * 2 + full_region * 6 + name_block);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(ScatterAllocFidelity, RunsOfPages) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls one = rig.counted_malloc({4096});
  EXPECT_EQ(rig.offset(one.blocks[0]), 15 * 4096);
  // Lock 1 exchange; hint 1 load; chunk size 1 load, 1 compare-exchange; hint 1 compare-exchange; unlock 1 store.
  EXPECT_EQ(one.of_lane[0], (Ops{.loads = 2, .stores = 1, .updates = 1, .compare_exchanges = 2}));
  const Calls three = rig.counted_malloc({3 * 4096});
  EXPECT_EQ(rig.offset(three.blocks[0]), 12 * 4096);
  EXPECT_EQ(three.of_lane[0], (Ops{.loads = 4, .stores = 1, .updates = 1, .compare_exchanges = 4}));
  // Chunk size 1 load; of each page 8 words of bits and 1 compare-exchange; hint 1 maximum.
  EXPECT_EQ(rig.counted_free(three.blocks).of_lane[0],
            (Ops{.loads = 1, .stores = 3 * 8, .updates = 1, .compare_exchanges = 3}));
  // Four pages below the hint, eleven more; then all: nothing is free between the hint and page 15.
  const Calls none = rig.counted_malloc({16 * 4096});
  EXPECT_EQ(none.blocks[0], nullptr);
  // Lock, hint; 15 pages down from the hint, 16 pages from the end of the pool; unlock.
  EXPECT_EQ(none.of_lane[0], (Ops{.loads = 1 + 15 + 16, .stores = 1, .updates = 1}));
}

TEST(ScatterAllocFidelity, AWarpTakesRunsLaneByLane) {
  FidelityRig<ScatterAlloc> rig(2 * one_region);
  const Calls calls = rig.warp_mallocs(4096);
  const Ops each{.loads = 2, .stores = 1, .updates = 1, .compare_exchanges = 2};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(calls.of_lane[lane], each) << lane;
    EXPECT_EQ(rig.offset(calls.blocks[lane]), static_cast<std::ptrdiff_t>((31 - lane) * 4096));
  }
}

}  // namespace
}  // namespace allocbench
