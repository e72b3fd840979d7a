// These types hold state per tile, which is a warp or half a warp, for sessions (session.hpp). Tiles finds the tile of
// a thread, and TileTable keeps the state of each tile between kernels.
#pragma once

#include "allocators/support/contract/arena.hpp"
#include "simt/simt.hpp"

namespace allocbench {

// Tiles are warps or halves of warps: the lanes that share a state.
struct Tiles {
  std::uint32_t lanes_log2 = 5;  // log2 of the lanes of a tile, 4 or 5

  // Returns the number of the thread's tile. Tiles are numbered in the order of the grid, and no two blocks share a
  // tile.
  template <class Thread>
  SIMT_FN std::uint32_t number(Thread& thread) const {
    const std::uint32_t tiles_of_block = (thread.block_size() + (1u << lanes_log2) - 1) >> lanes_log2;
    return thread.block() * tiles_of_block + (thread.rank_in_block() >> lanes_log2);
  }
  // Returns the converged lanes of the caller's tile.
  template <class Thread>
  SIMT_FN auto converged(Thread& thread) const {
    const auto group = thread.converged();
    return lanes_log2 == 5 ? group : group.partition(thread.lane() < 16);
  }
};

// TileTable has one State per tile. All bytes are zero at first.
template <class State>
struct TileTable {
  Tiles tiles;
  State* states = nullptr;
  std::uint32_t count = 0;

  static TileTable create(Arena& arena, Tiles tiles, std::uint32_t count) {
    return {tiles, arena.metadata<State>(count), count};
  }
  void reset(simt::Stream& stream) const { simt::device_fill(stream, states, 0, count * sizeof(State)); }
  // Returns the entry of the calling thread's tile, or null if the grid has more tiles than the table.
  template <class Thread>
  SIMT_FN State* find(Thread& thread) const {
    const std::uint32_t number = tiles.number(thread);
    return number < count ? states + number : nullptr;
  }
};

}  // namespace allocbench
