// Geometry describes the threads of a grid that call the allocator. The callers are the first `lanes_per_warp` lanes of
// every warp, in the order of the grid, up to the number `callers`.
//
// The papers use different numbers of calling lanes. In Vinkler & Havran 2015 (sec. 5) one lane per warp calls, so an
// allocator cannot combine the requests of a warp. Winter et al., PPoPP'21, test all 32 lanes and one lane.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

struct Geometry {
  static constexpr std::uint32_t no_caller = 0xffffffffu;

  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  std::uint32_t lanes_per_warp = 1;
  std::uint32_t callers = 1;
  std::uint32_t callers_per_block = 1;  // computed on the host, because timed kernels should not divide

  // Returns the smallest grid in which `callers` threads call.
  static Geometry of_callers(std::uint32_t callers, std::uint32_t threads_per_block, std::uint32_t lanes_per_warp) {
    const std::uint32_t per_block = callers_of_block(threads_per_block, lanes_per_warp);
    return {(callers + per_block - 1) / per_block, threads_per_block, lanes_per_warp, callers, per_block};
  }
  // Returns the geometry with all callers of `blocks` blocks.
  static Geometry of_blocks(std::uint32_t blocks, std::uint32_t threads_per_block, std::uint32_t lanes_per_warp) {
    const std::uint32_t per_block = callers_of_block(threads_per_block, lanes_per_warp);
    return {blocks, threads_per_block, lanes_per_warp, blocks * per_block, per_block};
  }

  // A block whose size is not a multiple of the warp size ends in a partial warp, which may have fewer callers.
  static std::uint32_t callers_of_block(std::uint32_t threads_per_block, std::uint32_t lanes_per_warp) {
    const std::uint32_t tail = threads_per_block % simt::warp_size;
    return threads_per_block / simt::warp_size * lanes_per_warp + (tail < lanes_per_warp ? tail : lanes_per_warp);
  }

  simt::LaunchShape shape() const { return {.blocks = blocks, .threads_per_block = threads_per_block}; }

  // Returns whether all lanes call in every warp that has a caller. Designs with whole-warp collectives need this.
  bool whole_warps() const {
    return lanes_per_warp == simt::warp_size && threads_per_block % simt::warp_size == 0 &&
           callers % simt::warp_size == 0;
  }

  // Returns the caller index of the thread, or no_caller. Indices follow the grid order without gaps.
  template <class Thread>
  SIMT_FN std::uint32_t caller(Thread& thread) const {
    const std::uint32_t lane = thread.lane();
    if (lane >= lanes_per_warp) return no_caller;
    const std::uint32_t index = thread.block() * callers_per_block + thread.warp_in_block() * lanes_per_warp + lane;
    return index < callers ? index : no_caller;
  }
};

}  // namespace allocbench
