// State per warp or per tile of 16 lanes, for sessions (session.hpp): the tile of a thread, and a table that keeps the
// state of each tile between kernels.
#pragma once

#include "allocators/support/contract/arena.hpp"
#include "simt/simt.hpp"

namespace allocbench {

// Warps, or their halves: the lanes that share a state.
struct Tiles {
  std::uint32_t lanes_log2 = 5;  // 4 or 5

  // In the order of the grid. No two blocks share a tile.
  template <class Thread>
  SIMT_FN std::uint32_t number(Thread& thread) const {
    const std::uint32_t tiles_of_block = (thread.block_size() + (1u << lanes_log2) - 1) >> lanes_log2;
    return thread.block() * tiles_of_block + (thread.rank_in_block() >> lanes_log2);
  }
  // The converged lanes of the caller's tile.
  template <class Thread>
  SIMT_FN auto converged(Thread& thread) const {
    const auto group = thread.converged();
    return lanes_log2 == 5 ? group : group.partition(thread.lane() < 16);
  }
};

// One State per tile, all bytes zero at first.
template <class State>
struct TileTable {
  Tiles tiles;
  State* states = nullptr;
  std::uint32_t count = 0;

  static TileTable create(Arena& arena, Tiles tiles, std::uint32_t count) {
    return {tiles, arena.metadata<State>(count), count};
  }
  void reset(simt::Stream& stream) const { simt::device_fill(stream, states, 0, count * sizeof(State)); }
  // The entry of the calling thread's tile; null if the grid has more tiles than the table.
  template <class Thread>
  SIMT_FN State* find(Thread& thread) const {
    const std::uint32_t number = tiles.number(thread);
    return number < count ? states + number : nullptr;
  }
};

}  // namespace allocbench
