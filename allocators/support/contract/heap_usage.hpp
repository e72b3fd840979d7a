// HeapUsage: the state of a heap while no kernel runs. A design that can report it has `HeapUsage usage(simt::Stream&)
// const`.
#pragma once

#include <cstdint>

namespace allocbench {

struct HeapUsage {
  std::uint64_t blocks = 0;           // in use
  std::uint64_t bytes = 0;            // bytes of these blocks, rounding included
  std::uint64_t largest_request = 0;  // largest request that one thread alone would get; 0: none
  std::uint64_t free_bytes = 0;       // bytes for requests of any size: chunks, pages or slabs without blocks
};

}  // namespace allocbench
