// The bytes of a request, checked and rounded up: the only place where an allocator does either.
//
// A caller may ask for any number of bytes up to 2^64 - 1. Such a number can wrap if it is rounded up, or if a header
// is added, or if it is multiplied by the lanes of a warp. A huge request would then get a small block. So every malloc
// first asks its RequestLimit and returns null before it changes a shared word. A limit is at most the size of the
// memory behind it, so nothing that is computed from a smaller request wraps. Two designs round in place: ScatterAlloc
// compares pages instead of bytes, because these functions cost its malloc registers, and Comb rounds for runs of
// chunks. A request for zero bytes gets a block of its own, like one for one byte (ZeroBytes::unique).
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// Bytes of the largest request that a heap can ever serve.
struct RequestLimit {
  std::uint64_t bytes = 0;

  SIMT_HOST_FN bool refuses(std::uint64_t request) const { return request > bytes; }
};

// Units of 2^unit_log2 bytes for a request that was not refused and a header in front of it; at least one.
SIMT_HOST_FN constexpr std::uint64_t units_of(std::uint64_t request, std::uint32_t unit_log2,
                                              std::uint32_t header_bytes = 0) {
  const std::uint64_t used = header_bytes == 0 && request == 0 ? 1 : request + header_bytes;
  return (used + (std::uint64_t{1} << unit_log2) - 1) >> unit_log2;
}

// The same for requests and units below 2^31, in 32-bit arithmetic.
SIMT_HOST_FN constexpr std::uint32_t units_of(std::uint32_t request, std::uint32_t unit_log2,
                                              std::uint32_t header_bytes = 0) {
  const std::uint32_t used = header_bytes == 0 && request == 0 ? 1 : request + header_bytes;
  return (used + (1u << unit_log2) - 1) >> unit_log2;
}

// log2 of the smallest power of two that holds a request below 2^31; at least `least`.
SIMT_HOST_FN std::uint32_t log2_of(std::uint32_t request, std::uint32_t least) {
  return request <= 1u << least ? least : 32 - simt::count_leading_zeros(request - 1);
}

}  // namespace allocbench
