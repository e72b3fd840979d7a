// These tests check Comb in a nearly full pool. A request needs few operations, and gets no null pointer while a large
// enough slot is free. Many warps together find all slots.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "allocators/comb/comb.hpp"
#include "tests/allocators/counted_mallocs.hpp"

namespace allocbench {
namespace {

using testing::Rig;
using testing::served;

comb::Parameters chunks_of(std::uint64_t bytes) { return {.chunk_bytes = bytes, .least_chunks = 1}; }

TEST(CombFullPool, SixSizesShareTheLastFifthOfAPool) {
  // Warps whose lanes want six sizes use a small part of each chunk that they take for one of these sizes.
  constexpr std::size_t pool_bytes = 4 << 20;
  Rig<Comb> rig(pool_bytes, chunks_of(8192), 1, 4, simt::StrategyKind::lockstep);
  const std::vector<void*> taken = rig.malloc(std::vector<std::uint64_t>(pool_bytes / 128 * 82 / 100, 128), 256);
  ASSERT_EQ(served(taken), taken.size());
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::vector<std::uint64_t> sizes(7500);
    std::uint32_t random = round;
    for (std::uint64_t& bytes : sizes) bytes = 1 + ((random = random * 1664525 + 1013904223) >> 16) % 128;
    const std::vector<void*> blocks = rig.malloc(sizes, 256);
    EXPECT_EQ(served(blocks), blocks.size()) << "round " << round;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    rig.free(blocks, 256);
  }
}

TEST(CombFullPool, FindsTheLastTenthOfAPoolInFewOperations) {
  constexpr std::uint32_t slots = (4 << 20) / 64;
  constexpr std::uint32_t requests = 1024;
  Rig<Comb> rig(4 << 20, chunks_of(32768), 1, 4, simt::StrategyKind::lockstep);
  const std::vector<void*> taken = rig.malloc(std::vector<std::uint64_t>(slots / 10 * 9, 64), 256);
  ASSERT_EQ(served(taken), taken.size());
  // The first of these requests get the empty chunks that were prepared for other sizes.
  rig.free(rig.malloc(std::vector<std::uint64_t>(requests, 64), 256), 256);
  const testing::CountedMallocs mallocs = testing::count_mallocs(rig, 64, requests, 256);
  EXPECT_EQ(served(mallocs.blocks), requests);
  // A search that looked into one chunk after the other would exceed this limit.
  EXPECT_LT(mallocs.operations, 10 * requests);
}

// Fills the pool with blocks of 256 B, one per thread. Returns the operations on shared words per malloc.
double operations_of_a_fill(std::size_t pool_bytes, std::uint64_t prepared) {
  Rig<Comb> rig(pool_bytes, {.chunk_bytes = 16384, .least_chunks = 1, .prepared = prepared}, 1, 4,
                simt::StrategyKind::lockstep);
  const auto pages = static_cast<std::uint32_t>(pool_bytes / 256);
  const testing::CountedMallocs mallocs = testing::count_mallocs(rig, 256, pages, 256);
  EXPECT_EQ(std::set<void*>(mallocs.blocks.begin(), mallocs.blocks.end()).count(nullptr), 0u);
  EXPECT_EQ(std::set<void*>(mallocs.blocks.begin(), mallocs.blocks.end()).size(), pages);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  return static_cast<double>(mallocs.operations) / pages;
}

// If each warp searched the pool by itself, a malloc would take more operations in a larger pool, and the test would
// fail.
TEST(CombFullPool, AMallocCostsTheSameWhenALargerPoolIsFilledToTheLastBlock) {
  for (const std::uint64_t prepared : {0u, 8u}) {
    const double small = operations_of_a_fill(4 << 20, prepared);
    EXPECT_LT(operations_of_a_fill(16 << 20, prepared), 1.4 * small) << "prepared " << prepared;
  }
}

TEST(CombFullPool, WarpsLearnTogetherThatNothingIsLeft) {
  Rig<Comb> rig(2 << 20, chunks_of(4096), 1, 4, simt::StrategyKind::lockstep);
  constexpr std::uint32_t slots = (2 << 20) / 256;
  const std::vector<void*> taken = rig.malloc(std::vector<std::uint64_t>(slots, 256), 256);
  ASSERT_EQ(served(taken), slots);
  const testing::CountedMallocs refused = testing::count_mallocs(rig, 256, slots, 256);
  EXPECT_EQ(served(refused.blocks), 0u);
  EXPECT_LT(refused.operations, 200 * slots);  // exceeded if each warp searched the pool by itself
  // If a slot is freed now, the next request finds this slot, wherever it lies.
  for (const std::uint32_t i : {0u, slots / 2, slots - 1}) {
    rig.free({taken[i]});
    EXPECT_EQ(rig.malloc({256})[0], taken[i]);
  }
}

// Returns random sizes of 4 to 1,024 B, all equally likely.
std::vector<std::uint64_t> mixed_sizes(std::uint32_t count) {
  std::vector<std::uint64_t> sizes(count);
  std::uint32_t random = 1;
  for (std::uint64_t& bytes : sizes) bytes = 4 + ((random = random * 1664525 + 1013904223) >> 8) % 1021;
  return sizes;
}

TEST(CombFullPool, MixedSizesGetPreparedChunksOfOtherClassesInFewOperations) {
  constexpr std::size_t pool_bytes = 64 << 20;
  constexpr std::uint32_t requests = 2048;
  Rig<Comb> rig(pool_bytes, chunks_of(65536), 1, 4, simt::StrategyKind::lockstep);
  const std::vector<void*> taken = rig.malloc(std::vector<std::uint64_t>(pool_bytes / 1024 * 9 / 10, 1024), 256);
  ASSERT_EQ(served(taken), taken.size());
  // If groups competed for a chunk that another group is retiring, or retired chunks of many words first, the
  // operations would exceed both limits below.
  const testing::CountedMallocs mallocs = testing::count_mallocs(rig, mixed_sizes(requests), 256);
  EXPECT_EQ(served(mallocs.blocks), requests);
  EXPECT_LT(mallocs.operations, 15 * requests);
  EXPECT_LT(mallocs.most, 600u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(CombFullPool, AClassWithoutChunksBorrowsSlotsOfALargerOne) {
  Rig<Comb> rig(1 << 20, chunks_of(16384), 1, 4, simt::StrategyKind::lockstep);
  std::vector<void*> taken = rig.malloc(std::vector<std::uint64_t>((1 << 20) / 1024, 1024), 256);
  ASSERT_EQ(served(taken), taken.size());
  std::vector<void*> freed;  // one block of each chunk, so that no chunk becomes empty
  for (std::size_t i = 0; i < taken.size(); i += 16) {
    freed.push_back(std::exchange(taken[i], nullptr));
  }
  rig.free(freed);
  std::vector<std::uint64_t> sizes = mixed_sizes(static_cast<std::uint32_t>(freed.size()));
  const std::vector<void*> blocks = rig.malloc(sizes);
  EXPECT_EQ(served(blocks), blocks.size());
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()), std::set<void*>(freed.begin(), freed.end()));
  EXPECT_EQ(served(rig.malloc({16, 512})), 0u);
  rig.free(blocks);
  EXPECT_EQ(served(rig.malloc({2048})), 0u);  // a class never borrows slots of a smaller one
  EXPECT_EQ(served(rig.malloc(std::vector<std::uint64_t>(freed.size(), 1024))), freed.size());
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
