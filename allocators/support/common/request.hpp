// These functions check the size of a request and round it up.
//
// A caller may request any number of bytes up to 2^64 - 1. Such a number can overflow if it is rounded up, if a header
// is added, or if it is multiplied by the number of lanes. A huge request would then get a small block. So a malloc
// first compares the request with a limit (RequestLimit in most designs), and returns null before it changes the heap.
// A limit is at most the size of the memory, so computations with an admitted request do not overflow. Some designs
// round by themselves. The reworked ScatterAlloc does so, because these functions would need more registers in its
// malloc. Comb rounds large requests up to runs of chunks. A request for zero bytes gets its own block, like a request
// for one byte, unless the trait `zero` is ZeroBytes::null.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// RequestLimit has the size of the largest request that a heap can ever serve.
struct RequestLimit {
  std::uint64_t bytes = 0;

  SIMT_HOST_FN bool refuses(std::uint64_t request) const { return request > bytes; }
};

// Returns how many units of 2^unit_log2 bytes a request and its header need, at least one. A RequestLimit must have
// admitted the request.
SIMT_HOST_FN constexpr std::uint64_t units_of(std::uint64_t request, std::uint32_t unit_log2,
                                              std::uint32_t header_bytes = 0) {
  const std::uint64_t used = header_bytes == 0 && request == 0 ? 1 : request + header_bytes;
  return (used + (std::uint64_t{1} << unit_log2) - 1) >> unit_log2;
}

// Returns the number of units in 32-bit arithmetic, for requests and units below 2^31.
SIMT_HOST_FN constexpr std::uint32_t units_of(std::uint32_t request, std::uint32_t unit_log2,
                                              std::uint32_t header_bytes = 0) {
  const std::uint32_t used = header_bytes == 0 && request == 0 ? 1 : request + header_bytes;
  return (used + (1u << unit_log2) - 1) >> unit_log2;
}

// Returns log2 of the smallest power of two that holds the request (below 2^31), but never less than `least`.
SIMT_HOST_FN std::uint32_t log2_of(std::uint32_t request, std::uint32_t least) {
  return request <= 1u << least ? least : 32 - simt::count_leading_zeros(request - 1);
}

}  // namespace allocbench
