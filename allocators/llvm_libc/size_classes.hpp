// SizeClass is a chunk size of LLVM libc's GPU malloc, with the slot of the table where searches for its slabs begin.
// All values are computed.
//
// llvm-project, libc/src/__support/GPU/allocator.cpp (2026). The sizes are 16, 32, 48 and 64 bytes, then 0.75, 0.875
// and 1 times each larger power of two up to half a slab. Slabs of 2 MiB have 46 sizes. The sizes are numbered from 0.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::llvm_libc {

// Rounding selects the size for a request that equals a size of 0.75 or 0.875 times a power of two.
enum class Rounding : std::uint32_t {
  published,  // the next larger size: 48 becomes 64, and 96 becomes 112
  fixed       // the size itself (llvm-project pull request 221583, September 2026)
};

struct SizeClass {
  std::uint32_t bytes;
  std::uint32_t number;

  // Returns the class of a request. Requires 1 <= request <= half a slab.
  SIMT_HOST_FN static SizeClass of(std::uint32_t request, Rounding rounding) {
    // A chunk of 0.75 or 0.875 times a power of two must have at least this size.
    const std::uint32_t wanted = request + (rounding == Rounding::published ? 1 : 0);
    if (request <= 64) {
      if (request <= 32) return request <= 16 ? SizeClass{16, 0} : SizeClass{32, 1};
      return wanted <= 48 ? SizeClass{48, 2} : SizeClass{64, 3};
    }
    const std::uint32_t log2 = 32 - simt::count_leading_zeros(request - 1);
    const std::uint32_t first = number_of_power(log2 - 1) + 1;
    if (wanted <= 3u << (log2 - 2)) return {3u << (log2 - 2), first};
    if (wanted <= 7u << (log2 - 3)) return {7u << (log2 - 3), first + 1};
    return {1u << log2, first + 2};
  }

  // Returns the number of the class of 2^log2 bytes. Requires log2 >= 6.
  SIMT_HOST_FN static std::uint32_t number_of_power(std::uint32_t log2) { return 3 + (log2 - 6) * 3; }
  // Returns the number of classes for slabs of 2^slab_log2 bytes. Requires slab_log2 >= 7.
  SIMT_HOST_FN static std::uint32_t count(std::uint32_t slab_log2) { return number_of_power(slab_log2 - 1) + 1; }

  // Returns the slot of the table where searches for slabs of this size begin. A cubic spread in 16.16 fixed point
  // leaves more room to small sizes.
  SIMT_HOST_FN std::uint32_t home(std::uint32_t classes, std::uint32_t last_slot) const {
    constexpr std::uint64_t one = 1u << 16;
    const std::uint64_t left = one - (std::uint64_t{number} << 16) / (classes - 1);
    const std::uint64_t cube = left * left * left >> 32;
    return static_cast<std::uint32_t>(last_slot * (one - cube) >> 16);
  }
};

}  // namespace allocbench::llvm_libc
