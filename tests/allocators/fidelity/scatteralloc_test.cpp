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

// The pool has one region of 16 pages of 4 KiB. For warp slot 0, every hash in these tests is a multiple of 16, so
// walks start at page 0.
constexpr std::size_t one_region = 16 * (4096 + sizeof(PageUsage)) + 4;

// A walk loads the access block in use and the counter of the region.
constexpr Ops begin_walk{.loads = 2};
// The lane loads the chunk size and changes it from 0 by a compare-exchange.
constexpr Ops format{.loads = 1, .compare_exchanges = 1};
// The lane adds to the count, loads the chunk size again, and sets the bit (1 OR).
constexpr Ops use_flat{.loads = 1, .updates = 2};
// On a two-level page, the lane also loads which segments are full.
constexpr Ops use_two_level{.loads = 2, .updates = 2};
// At a full page, the lane loads the chunk size, adds to the count, loads the chunk size again, and subtracts from the
// count.
constexpr Ops full_page{.loads = 2, .updates = 2};
// A compare-exchange of the count locks the page. The lane stores 8 words of bits and the chunk size. A subtraction
// unlocks the page.
constexpr Ops reset_page{.stores = 9, .updates = 1, .compare_exchanges = 1};

Ops operator+(Ops a, const Ops& b) { return a += b; }

TEST(ScatterAllocFidelity, OneLane) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls flat = rig.counted_malloc({256});
  EXPECT_EQ(flat.of_lane[0], begin_walk + format + use_flat);
  // The free loads the chunk size, clears the bit (1 AND), and subtracts from the count.
  EXPECT_EQ(rig.counted_free(flat.blocks).of_lane[0], (Ops{.loads = 1, .updates = 2}) + reset_page);
  const Calls two_level = rig.counted_malloc({16});
  EXPECT_EQ(two_level.of_lane[0], begin_walk + format + use_two_level);
  // The free loads the chunk size, clears the bit on the page and the mark of its segment (2 ANDs), and subtracts from
  // the count.
  EXPECT_EQ(rig.counted_free(two_level.blocks).of_lane[0], (Ops{.loads = 1, .updates = 3}) + reset_page);
}

TEST(ScatterAllocFidelity, OneLaneWithoutPageReset) {
  FidelityRig<ScatterAllocNoReset> rig(one_region);
  const Calls calls = rig.counted_malloc({256});
  // The operations are those with page reset, without the second load of the chunk size.
  EXPECT_EQ(calls.of_lane[0], begin_walk + format + (Ops{.updates = 2}));
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.loads = 1, .updates = 2}));
}

TEST(ScatterAllocFidelity, AWarpSharesAChunk) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls calls = rig.warp_mallocs(16);
  // The first lane gets a flat chunk of 16 + 32 * 16 bytes and stores the number of members. The other lanes do
  // nothing.
  EXPECT_EQ(calls.of_lane[0], begin_walk + format + use_flat + (Ops{.stores = 1}));
  EXPECT_EQ(calls.sum(), calls.of_lane[0]);
  // Each member loads the chunk size and subtracts from the number of members. The last one frees the chunk: it clears
  // the bit, lowers the count, and resets the page.
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(),
            (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.updates = 2}) + reset_page);
}

TEST(ScatterAllocFidelity, AWarpWithoutCoalescingFillsPagesLaneByLane) {
  FidelityRig<ScatterAlloc> rig(one_region);
  const Calls calls = rig.warp_mallocs(256);
  // A page has 16 chunks. Lanes that see page 0 unformatted try to format it. All lanes add to the count. Each of
  // 16 lanes gets the bit of its lane. The others subtract and go to page 1, where they do the same.
  const Ops one_of_many = begin_walk + format;
  const Ops too_many{.loads = 1, .updates = 2};
  Ops expected = one_of_many * 32 + use_flat * 16 + too_many * 16 + (format + use_flat) * 16;
  // A lane that looks after another lane has formatted the page makes no compare-exchange.
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
  // A page has 254 chunks of 16 bytes. One lane at a time begins at bit 0 of segment 0 and goes on to the next clear
  // bit. From the second chunk on, it makes two ORs. For the first chunk of a later segment it makes a third one, which
  // marks the segment before as full.
  for (std::uint32_t i = 0; i < 254; ++i) {
    const Calls calls = rig.counted_malloc({16});
    ASSERT_EQ(rig.offset(calls.blocks[0]), static_cast<std::ptrdiff_t>(i * 16));
    Ops expected = begin_walk + (i == 0 ? format : Ops{.loads = 1}) + use_two_level;
    if (i % 32 != 0) expected += {.updates = 1};            // one OR finds bit 0 set
    if (i != 0 && i % 32 == 0) expected += {.updates = 2};  // bit 0 of a full segment, and the mark
    EXPECT_EQ(calls.of_lane[0], expected) << i;
  }
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], begin_walk + full_page + format + use_two_level);
}

TEST(ScatterAllocFidelity, AnExhaustedPool) {
  FidelityRig<ScatterAlloc> rig(one_region);
  for (int page = 0; page < 16; ++page) ASSERT_NE(rig.counted_malloc({4080}).blocks[0], nullptr);
  const Calls calls = rig.counted_malloc({4080});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // The walk loads the access block. In each of two passes, it loads the counter of the region, tries 16 full pages,
  // and raises the counter (1 maximum).
  EXPECT_EQ(calls.of_lane[0], (Ops{.loads = 1}) + ((Ops{.loads = 1, .updates = 1}) + full_page * 16) * 2);
}

TEST(ScatterAllocFidelity, RegionsThatFailedTwelveTimesAreSkippedInPass1) {
  FidelityRig<ScatterAlloc> rig(one_region);
  for (int page = 0; page < 16; ++page) rig.counted_malloc({4080});
  for (int i = 0; i < 6; ++i) rig.counted_malloc({4080});  // each request counts the region twice
  // Pass 1 loads the counter and skips the region. Pass 2 is as in AnExhaustedPool.
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
  // The lane locks (1 exchange) and loads the hint. It loads the chunk size and changes it by a compare-exchange. It
  // moves the hint by a compare-exchange and unlocks (1 store).
  EXPECT_EQ(one.of_lane[0], (Ops{.loads = 2, .stores = 1, .updates = 1, .compare_exchanges = 2}));
  const Calls three = rig.counted_malloc({3 * 4096});
  EXPECT_EQ(rig.offset(three.blocks[0]), 12 * 4096);
  EXPECT_EQ(three.of_lane[0], (Ops{.loads = 4, .stores = 1, .updates = 1, .compare_exchanges = 4}));
  // The free loads the chunk size. For each page, it stores 8 words of bits and makes a compare-exchange. Then it
  // raises the hint (1 maximum).
  EXPECT_EQ(rig.counted_free(three.blocks).of_lane[0],
            (Ops{.loads = 1, .stores = 3 * 8, .updates = 1, .compare_exchanges = 3}));
  // Page 15 is in use, so the pool has no run of 16 pages.
  const Calls none = rig.counted_malloc({16 * 4096});
  EXPECT_EQ(none.blocks[0], nullptr);
  // The lane locks and loads the hint. It looks at 15 pages from the hint down, and then at 16 pages from the end of
  // the pool. Then it unlocks.
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
