// WarpParameters are the common parameters of the three generic tests of Vinkler & Havran 2015 (sec. 5, table 1): the
// number and size of the thread blocks, the number of calling lanes per warp, one request size, and the multiple to
// which it is padded.
#pragma once

#include <tuple>

#include "allocators/support/contract/parameters.hpp"
#include "workloads/support/callers/requirements.hpp"

namespace allocbench {

struct WarpParameters {
  std::uint32_t blocks = 120;
  std::uint32_t threads_per_block = 256;
  std::uint32_t lanes_per_warp = 1;
  std::uint64_t request_bytes = 4;
  std::uint64_t padding_bytes = 16;

  Geometry geometry() const { return Geometry::of_blocks(blocks, threads_per_block, lanes_per_warp); }
  std::uint64_t padded_bytes() const { return pad(request_bytes, padding_bytes); }
};

// Returns the fields that the parameter struct P inherits from WarpParameters. A workload appends its own fields with
// std::tuple_cat.
template <class P>
auto warp_fields() {
  const auto member = []<class T>(T WarpParameters::*base) -> T P::* { return base; };
  return std::tuple{
      Field{"blocks", member(&WarpParameters::blocks), "blocks", "blocks of the grid", "Vinkler & Havran 2015, table 1"}
          .between(1, most_blocks),
      Field{"threads_per_block", member(&WarpParameters::threads_per_block), "threads", "threads of a block",
            "Vinkler & Havran 2015, sec. 6"}
          .between(1, most_threads_per_block),
      Field{"lanes_per_warp", member(&WarpParameters::lanes_per_warp), "lanes",
            "lanes of each warp that call the allocator", "Vinkler & Havran 2015, sec. 5"}
          .between(1, simt::warp_size),
      Field{"request_bytes", member(&WarpParameters::request_bytes), "B", "payload of every request, before padding",
            "Vinkler & Havran 2015, table 1"}
          .between(1, 1ull << 40),
      Field{"padding_bytes", member(&WarpParameters::padding_bytes), "B",
            "requests are rounded up to a multiple of this", "Vinkler & Havran 2015, sec. 5"}
          .between(1, 1 << 20)};
}

}  // namespace allocbench
