// These tests cover the common parts of the random-walk allocators: word grids and the generator.
#include "allocators/random_walk/walk.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "allocators/random_walk/bitmap.hpp"

namespace allocbench {
namespace {

using random_walk::WordGrid;

TEST(WordGrid, CoversAllPagesWithWholeRegions) {
  const struct {
    std::uint32_t pages, regions, words_of_region;
  } expected[] = {{1, 1, 1},     {32, 1, 1},    {33, 1, 2},    {64, 1, 2},   {65, 1, 4},
                  {1024, 1, 32}, {1025, 2, 32}, {2048, 2, 32}, {2049, 3, 32}};
  for (const auto& each : expected) {
    const WordGrid grid = WordGrid::of_pages(each.pages);
    EXPECT_EQ(grid.regions, each.regions) << each.pages;
    EXPECT_EQ(1u << grid.region_shift, each.words_of_region) << each.pages;
    EXPECT_GE(grid.positions(), each.pages);
    std::uint32_t free = 0;
    for (std::uint32_t word = 0; word < grid.words(); ++word) {
      free += 32 - simt::popcount(random_walk::surplus_bits(word, each.pages));
    }
    EXPECT_EQ(free, each.pages);
  }
}

TEST(WordGrid, MembersOfAWarpVisitDifferentWordsOfOneRegion) {
  const WordGrid grid = WordGrid::of_pages(100 * 1024);
  for (const std::uint32_t position : {0u, 31u, 5000u, 102399u}) {
    std::uint32_t seen = 0;
    for (std::uint32_t rank = 0; rank < 32; ++rank) {
      const std::uint32_t word = grid.word_of_member(position, rank);
      EXPECT_EQ(word / 32, position / 1024);
      seen |= 1u << (word % 32);
    }
    EXPECT_EQ(seen, 0xffffffffu);
    EXPECT_EQ(grid.word_of_member(position, 0), position / 32);
  }
}

struct DrawPositions {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t positions, std::uint32_t draws, std::uint32_t* counts) const {
    random_walk::Walk walk(thread, 5);
    for (std::uint32_t i = 0; i < draws; ++i) thread.atomic(counts[walk.next(positions)]).fetch_add(1u, simt::relaxed);
  }
};

TEST(Walk, IsUniformOverAnyNumberOfPositions) {
  for (const std::uint32_t positions : {1u, 2u, 3u, 64u, 100u, 1023u, 1024u}) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    simt::Device device(options);
    simt::Stream stream(device);
    simt::Buffer<std::uint32_t> counts(positions);
    counts.fill_bytes(stream, 0);
    constexpr std::uint32_t draws = 64;
    simt::launch(stream, {32, 32}, DrawPositions{}, positions, draws, counts.data());
    const double expected = 32.0 * 32 * draws / positions;
    double chi_squared = 0;
    for (const std::uint32_t count : counts.to_host(stream)) {
      chi_squared += (count - expected) * (count - expected) / expected;
    }
    // The mean is positions - 1, and the variance is twice that.
    EXPECT_LE(std::abs(chi_squared - (positions - 1)), 5 * std::sqrt(2.0 * positions)) << positions;
  }
}

}  // namespace
}  // namespace allocbench
