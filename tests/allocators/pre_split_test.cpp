// These tests compare the pre-split pool with values worked out by hand from the paper's equation (section 4.2).
#include "allocators/circular_malloc/pre_split.hpp"

#include <gtest/gtest.h>

namespace allocbench::circular {
namespace {

constexpr std::uint32_t granules(std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / 16); }
constexpr std::uint64_t MiB = 1 << 20;

TEST(PreSplit, ReachesTheRootsOfThePaperForOneHeap) {
  // A pool of 512 MiB has 21 levels. The size of chunks halves from level to level, from 16 MiB at the root to 16 B.
  const struct {
    std::uint64_t pool, root;
    std::uint32_t levels;
  } cases[] = {{512 * MiB, 16 * MiB, 21}, {1024 * MiB, 32 * MiB, 22}, {2048 * MiB, 64 * MiB, 23}, {MiB / 8, 8192, 10}};
  for (const auto& expected : cases) {
    const PreSplit split = PreSplit::fit(granules(expected.pool), 1, 1);
    EXPECT_EQ(split.levels, expected.levels) << expected.pool;
    EXPECT_EQ(std::uint64_t{split.root} * 16, expected.root) << expected.pool;
  }
}

TEST(PreSplit, ReachesTheRootsOfThePaperForOneHeapPerSm) {
  const PreSplit titan_black = PreSplit::fit(granules(2048 * MiB), 15, 1);
  EXPECT_EQ(titan_black.levels, 19u);
  EXPECT_EQ(std::uint64_t{titan_black.root} * 16, 4 * MiB);
  const PreSplit h100 = PreSplit::fit(granules(2048 * MiB), 132, 1);
  EXPECT_EQ(h100.levels, 16u);
  EXPECT_EQ(std::uint64_t{h100.root} * 16, MiB / 2);
}

TEST(PreSplit, TilesThePoolWithoutGapsLevelByLevel) {
  const PreSplit split = PreSplit::fit(1000, 3, 2);
  ASSERT_GE(split.levels, 2u);
  std::uint32_t expected = 0;
  for (std::uint32_t heap = 0; heap < split.heaps; ++heap) {
    for (std::uint32_t node = 0; node < split.chunks_per_heap(); ++node) {
      EXPECT_EQ(split.chunk(heap, node), expected) << heap << " " << node;
      EXPECT_GE(split.chunk_size(node), 2u);
      expected += split.chunk_size(node);
    }
  }
  EXPECT_EQ(expected, split.last_chunk());
  EXPECT_LT(split.last_chunk(), split.granules);
}

TEST(PreSplit, LeavesTinyPoolsAsOneChunk) {
  const PreSplit split = PreSplit::fit(3, 4, 1);
  EXPECT_EQ(split.levels, 0u);
  EXPECT_EQ(split.chunks_per_heap(), 0u);
  EXPECT_EQ(split.last_chunk(), 0u);
}

TEST(PreSplit, PassesLevelsOfSmallerChunks) {
  const PreSplit split = PreSplit::fit(4096, 2, 1);  // two heaps of eight levels of 128 granules
  ASSERT_EQ(split.root, 128u);
  ASSERT_EQ(split.heap_granules(), 1024u);
  EXPECT_EQ(split.past_small_chunks(0, 128), 0u);
  EXPECT_EQ(split.past_small_chunks(0, 129), 1024u);
  EXPECT_EQ(split.past_small_chunks(128, 64), 128u);
  EXPECT_EQ(split.past_small_chunks(128, 65), 1024u);
  EXPECT_EQ(split.past_small_chunks(1023, 1), 1023u);
  EXPECT_EQ(split.past_small_chunks(1023, 2), 1024u);
  EXPECT_EQ(split.past_small_chunks(1024 + 128, 65), split.last_chunk());
  EXPECT_EQ(split.past_small_chunks(split.last_chunk(), 5000), split.last_chunk());
  EXPECT_EQ(split.past_small_chunks(split.granules, 1), split.granules);
  EXPECT_EQ(PreSplit::fit(3, 4, 1).past_small_chunks(0, 2), 0u);
}

TEST(PreSplit, DrawsAChunkFurtherOn) {
  const PreSplit split = PreSplit::fit(4096, 2, 1);  // two heaps of eight levels of 128 granules
  ASSERT_EQ(split.root, 128u);
  constexpr std::uint32_t most = 0xffffffffu;
  EXPECT_EQ(split.further_on(0, 0, 8, 32), 128u);            // node 1, the first chunk of 64
  EXPECT_EQ(split.further_on(0, most, 2, 32), 128u + 64);    // node 2
  EXPECT_EQ(split.further_on(0, most, 8, 32), 256u + 96);    // node 6, the last one with 32 granules
  EXPECT_EQ(split.further_on(130, 0, 8, 32), 128u + 64);     // 130 lies in node 1
  EXPECT_EQ(split.further_on(1024, 0, 1, 1), 1024u + 128);   // the second heap
  EXPECT_EQ(split.further_on(1024, most, most, 1), 2047u);   // its last node
  EXPECT_EQ(split.further_on(256 + 96, most, 8, 32), 352u);  // none behind it has 32
  EXPECT_EQ(split.further_on(0, most, 8, 129), 0u);          // none has 129
  EXPECT_EQ(split.further_on(2048, most, 8, 1), 2048u);      // the last chunk
}

}  // namespace
}  // namespace allocbench::circular
