// HeapUsage: the state of a heap while no kernel runs. A design that can tell offers
// `HeapUsage usage(simt::Stream&) const`.
#pragma once

#include <cstdint>

namespace allocbench {

struct HeapUsage {
  std::uint64_t blocks = 0;           // in use
  std::uint64_t bytes = 0;            // that these take, rounding included
  std::uint64_t largest_request = 0;  // that one thread alone would be served; 0: none
  std::uint64_t free_bytes = 0;       // that requests of any size may get: of chunks, pages or slabs without blocks
};

}  // namespace allocbench
