// These tests check that allocators address every place of pools above 4 GiB and 64 GiB with 64 bits, or refuse the
// pool. They check only the arithmetic and allocate no such pool.
#include <gtest/gtest.h>

#include <cstdint>

#include "allocators/circular_malloc/headers.hpp"
#include "allocators/circular_malloc/pre_split.hpp"
#include "allocators/halloc/slab.hpp"
#include "allocators/kma/superblock.hpp"
#include "allocators/ouroboros/layout.hpp"
#include "allocators/random_walk/bitmap.hpp"
#include "allocators/scatteralloc/page_table.hpp"
#include "allocators/support/common/page_array.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

std::byte* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44);

std::uint64_t offset_of(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(base);
}

TEST(LargePools, PagesOfAnArray) {
  const PageArray pages{base, 1u << 31, 6, {64}};
  for (const std::uint32_t page : {0u, (1u << 26) + 1, (1u << 30) + 3, (1u << 31) - 1}) {
    EXPECT_EQ(offset_of(pages.address(page)), std::uint64_t{page} * 64);
    EXPECT_EQ(pages.page_of(pages.address(page)), page);
  }
  const auto grid = random_walk::WordGrid::of_pages(1u << 31);
  EXPECT_EQ(grid.words(), 1u << 26);
  EXPECT_EQ(grid.positions(), 1u << 31);
}

TEST(LargePools, ChunksOfCMalloc) {
  circular::SideTable<circular::SplitHeader> side;
  side.base = base;
  circular::InPool<circular::FusedHeader> in_pool;
  in_pool.base = base + 12;
  for (const std::uint32_t chunk : {0u, 1u << 28, 0x7ffffffdu}) {
    EXPECT_EQ(offset_of(side.payload(chunk)), std::uint64_t{chunk} * 16);
    EXPECT_EQ(side.chunk_of(side.payload(chunk)), chunk);
    EXPECT_EQ(in_pool.chunk_of(in_pool.payload(chunk)), chunk);
    EXPECT_EQ(offset_of(in_pool.payload(chunk)) % 16, 0u);
  }
  for (const std::uint32_t heaps : {1u, 7u, 132u}) {
    const auto split = circular::PreSplit::fit(0xfffffffdu, heaps, 1);
    EXPECT_LE(std::uint64_t{heaps} * split.levels * split.root, split.granules);
    EXPECT_EQ(split.last_chunk(), heaps * split.heap_granules());
    EXPECT_GT(split.headers(), 2u);
  }
}

TEST(LargePools, SuperblocksSlabsAndPages) {
  kma::Superblocks superblocks;
  superblocks.base = base;
  superblocks.bytes_log2 = 16;
  EXPECT_EQ(offset_of(superblocks.begin(2'000'000)), std::uint64_t{2'000'000} << 16);
  halloc::Slabs slabs;
  slabs.base = base;
  EXPECT_EQ(offset_of(slabs.address(30'000, 0, 5)), (std::uint64_t{30'000} << 22) + 80);
  EXPECT_EQ(slabs.bit_word(600'000, 64), (std::uint64_t{600'000} << 13) + 2);
  scatteralloc::PageTable<true> table;
  table.base = base;
  EXPECT_EQ(offset_of(table.chunk_address(30'000'000, 100, 7)), (std::uint64_t{30'000'000} << 12) + 700);
  EXPECT_EQ(offset_of(&table.segment_bits(0x7ffffffe, 0)), (std::uint64_t{0x7fffffff} << 12) - 4);
}

// Expects that the chunks cover more than 80 % of the pool. Throws Unsupported if the heap refuses the pool.
template <class Policy>
void expect_whole_pool(std::uint64_t bytes) {
  simt::Device device{simt::ExecutorOptions{}};
  simt::Stream stream(device);
  Arena arena(stream, 1);
  const Policy heap = ouroboros::lay_out_heap<Policy>(Pool{base, bytes}, {}, arena, "ouroboros");
  const std::uint64_t pages_end = std::uint64_t{heap.space.pool.chunk_count} << heap.space.chunk_log;
  EXPECT_GT(pages_end, bytes / 10 * 8);
  EXPECT_LE(pages_end, bytes);
  const std::uint32_t last = heap.space.pool.chunk_count - 1;
  EXPECT_EQ(offset_of(heap.space.page(last, 511, 0)), pages_end - 16);
}

TEST(LargePools, OuroborosUsesTheWholePoolOrRefusesIt) {
  using ouroboros::ArrayHierarchy;
  using ouroboros::ChunkHeap;
  using ouroboros::FlatRing;
  using ouroboros::PageHeap;
  using ouroboros::SegmentedQueue;
  for (const std::uint64_t bytes : {5 * GiB, 40 * GiB, 63 * GiB}) {
    expect_whole_pool<PageHeap<FlatRing>>(bytes);
    expect_whole_pool<PageHeap<SegmentedQueue<ArrayHierarchy>>>(bytes);
    expect_whole_pool<ChunkHeap<FlatRing>>(bytes);
  }
  expect_whole_pool<ChunkHeap<FlatRing>>(140 * GiB);
  expect_whole_pool<ChunkHeap<SegmentedQueue<ArrayHierarchy>>>(140 * GiB);
  EXPECT_THROW(expect_whole_pool<PageHeap<FlatRing>>(140 * GiB), Unsupported);
  EXPECT_THROW(expect_whole_pool<PageHeap<SegmentedQueue<ArrayHierarchy>>>(140 * GiB), Unsupported);
}

}  // namespace
}  // namespace allocbench
