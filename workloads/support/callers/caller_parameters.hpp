// This file has common parameters of workloads with a given number of callers: the number of calling threads, the size
// of thread blocks, and the number of calling lanes per warp.
#pragma once

#include <tuple>

#include "allocators/support/contract/parameters.hpp"
#include "workloads/support/callers/requirements.hpp"

namespace allocbench {

struct CallerParameters {
  std::uint32_t threads = 100'000;
  std::uint32_t threads_per_block = 256;
  std::uint32_t lanes_per_warp = 32;

  Geometry geometry() const { return Geometry::of_callers(threads, threads_per_block, lanes_per_warp); }
};

// Returns the fields that the parameter struct P inherits from CallerParameters. `threads` describes what the threads
// do.
template <class P>
auto caller_fields(const char* threads, const char* source) {
  const auto member = []<class T>(T CallerParameters::*base) -> T P::* { return base; };
  return std::tuple{
      Field{"threads", member(&CallerParameters::threads), "threads", threads, source}.between(1, 1 << 28),
      Field{"threads_per_block", member(&CallerParameters::threads_per_block), "threads", "threads of a block",
            "Winter et al., PPoPP'21"}
          .between(1, most_threads_per_block),
      Field{"lanes_per_warp", member(&CallerParameters::lanes_per_warp), "lanes", "lanes of each warp that call",
            "Winter et al., PPoPP'21: 32 in figs. 9.a and 9.b, 1 in fig. 9.c; Huang et al. 2010, fig. 2: 1 to 32"}
          .between(1, simt::warp_size)};
}

}  // namespace allocbench
