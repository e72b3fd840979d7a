// HeapUsage is the state of a heap while no kernel runs. A design that can report this state has the member `HeapUsage
// usage(simt::Stream&) const`.
#pragma once

#include <cstdint>

namespace allocbench {

struct HeapUsage {
  std::uint64_t blocks = 0;           // number of blocks in use
  std::uint64_t bytes = 0;            // bytes of these blocks, rounding included
  std::uint64_t largest_request = 0;  // largest request that a lone thread would get, or 0 if it would get none
  std::uint64_t free_bytes = 0;       // bytes for requests of any size: chunks, pages or slabs without blocks
};

}  // namespace allocbench
