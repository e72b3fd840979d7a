// These tests check which threads share the state of a warp or half a warp, and that the state outlives kernels.
#include "allocators/support/common/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace allocbench {
namespace {

struct CountInTile {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, TileTable<std::uint32_t> table, std::uint32_t* numbers) const {
    numbers[thread.rank_in_grid()] = table.tiles.number(thread);
    std::uint32_t* const state = table.find(thread);
    if (state != nullptr) thread.atomic(*state).fetch_add(1u, simt::relaxed);
  }
};

struct MeetInTile {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Tiles tiles, simt::LaneMask* masks) const {
    masks[thread.rank_in_grid()] = tiles.converged(thread).mask();
  }
};

class TilesTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static simt::ExecutorOptions options() {
    simt::ExecutorOptions result;
    result.mode = simt::ExecutorMode::deterministic;
    result.strategy = simt::StrategyKind::lockstep;
    return result;
  }
  Tiles tiles() const { return {GetParam()}; }
  std::uint32_t lanes() const { return 1u << GetParam(); }

  simt::Device device_{options()};
  simt::Stream stream_{device_};
};

// In thread blocks of 40 threads, the last tile of each block is never full, and no tile belongs to two blocks.
TEST_P(TilesTest, BelongToOneBlockAndCountEveryLane) {
  constexpr std::uint32_t blocks = 3;
  constexpr std::uint32_t threads = 40;
  Arena arena(stream_, 0);
  const auto table = TileTable<std::uint32_t>::create(arena, tiles(), 64);
  simt::Buffer<std::uint32_t> numbers(blocks * threads);
  for (int launch = 0; launch < 2; ++launch) {
    simt::launch(stream_, {blocks, threads}, CountInTile{}, table, numbers.data());
  }
  const std::vector<std::uint32_t> number = numbers.to_host(stream_);
  const std::uint32_t tiles_of_block = (threads + lanes() - 1) / lanes();
  for (std::uint32_t i = 0; i < number.size(); ++i) {
    EXPECT_EQ(number[i], i / threads * tiles_of_block + i % threads / lanes()) << i;
  }
  std::vector<std::uint32_t> counts(64);
  simt::copy_to_host(stream_, counts.data(), table.states, counts.size() * sizeof counts[0]);
  for (std::uint32_t tile = 0; tile < counts.size(); ++tile) {
    const auto lanes_of_tile = static_cast<std::uint32_t>(std::count(number.begin(), number.end(), tile));
    EXPECT_EQ(counts[tile], 2 * lanes_of_tile) << tile;
  }
}

TEST_P(TilesTest, BeyondTheTableHaveNoState) {
  Arena arena(stream_, 0);
  const auto table = TileTable<std::uint32_t>::create(arena, tiles(), 1);
  simt::Buffer<std::uint32_t> numbers(96);
  simt::launch(stream_, {1, 96}, CountInTile{}, table, numbers.data());
  std::uint32_t count = 0;
  simt::copy_to_host(stream_, &count, table.states, sizeof count);
  EXPECT_EQ(count, lanes());
}

// Any lanes of a tile may come together, and lanes that come together have the same mask.
TEST_P(TilesTest, MeetTheirOwnLanesOnly) {
  simt::Buffer<simt::LaneMask> masks(32);
  simt::launch(stream_, {1, 32}, MeetInTile{}, tiles(), masks.data());
  const simt::LaneMask low = lanes() == 32 ? 0xffffffffu : 0xffffu;
  const std::vector<simt::LaneMask> mask = masks.to_host(stream_);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const simt::LaneMask tile = low << lane / lanes() * lanes();
    EXPECT_EQ(mask[lane] & ~tile, 0u) << lane;
    EXPECT_NE(mask[lane] >> lane & 1, 0u) << lane;
    for (std::uint32_t other = 0; other < 32; ++other) {
      if ((mask[lane] >> other & 1) == 0) continue;
      EXPECT_EQ(mask[other], mask[lane]) << lane << " and " << other;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, TilesTest, ::testing::Values(4u, 5u));

}  // namespace
}  // namespace allocbench
