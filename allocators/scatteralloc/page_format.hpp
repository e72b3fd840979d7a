// PageFormat divides a page of ScatterAlloc. It is pure arithmetic, the same on the host, in kernels and in all forms.
//
// Paper: Steinberger et al. 2012. All chunks of a page have one size. There are two formats:
// * flat: The page has at most 32 chunks. Each has more than (page - 8) / 33 bytes and one bit in the page's table
//   entry.
// * two-level: The page has at most 32 segments of 32 smaller chunks; the last segment may be shorter. Each segment has
//   one 32-bit word of bits. These words lie on the page, packed against its end.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::scatteralloc {

// Segments is the division of a two-level page.
struct Segments {
  std::uint32_t count;
  std::uint32_t chunks;  // number of chunks of the page

  // Returns the number of chunks of a segment, which is 32 except for the last segment.
  SIMT_HOST_FN std::uint32_t chunks_of(std::uint32_t segment) const {
    const std::uint32_t rest = chunks - segment * 32;
    return rest < 32 ? rest : 32;
  }
};

struct PageFormat {
  std::uint32_t page_shift = 12;
  // Chunk sizes are multiples of 2^unit_shift bytes: 16, or in the reworked form page / 2048 for pages of 64 KiB and
  // more. So a size fits the 12 bits of a table entry. (A page has at most 1024 chunks, so finer steps would not help
  // requests below page / 1024.)
  std::uint32_t unit_shift = 4;

  static PageFormat of_page_bytes(std::uint64_t page_bytes) {
    PageFormat format;
    format.page_shift = simt::count_trailing_zeros(page_bytes);
    format.unit_shift = format.page_shift > 15 ? format.page_shift - 11 : 4;
    return format;
  }

  SIMT_HOST_FN std::uint32_t page_bytes() const { return 1u << page_shift; }

  // Returns the chunk size for a request of at most one page.
  SIMT_HOST_FN std::uint32_t chunk_bytes(std::uint32_t bytes) const {
    return simt::round_up(bytes == 0 ? 1u : bytes, 1u << unit_shift);
  }

  SIMT_HOST_FN bool flat(std::uint32_t chunk) const { return chunk > (page_bytes() - 8) / 33; }

  // Returns the number of chunks of a flat page.
  SIMT_HOST_FN std::uint32_t flat_chunks(std::uint32_t chunk) const {
    const std::uint32_t fitting = page_bytes() / chunk;
    return fitting < 32 ? fitting : 32;
  }

  SIMT_HOST_FN Segments segments(std::uint32_t chunk) const {
    const std::uint32_t segment_bytes = 32 * chunk + 4;
    const std::uint32_t full = page_bytes() / segment_bytes;
    if (full >= 32) return {32, 1024};
    const std::uint32_t rest = page_bytes() - full * segment_bytes;
    const std::uint32_t fitting = rest > 4 ? (rest - 4) / chunk : 0;
    const std::uint32_t extra = fitting < 31 ? fitting : 31;
    return {full + (extra != 0 ? 1u : 0u), full * 32 + extra};
  }

  SIMT_HOST_FN std::uint32_t chunks(std::uint32_t chunk) const {
    return flat(chunk) ? flat_chunks(chunk) : segments(chunk).chunks;
  }
};

// Returns a word with the lowest `count` bits set.
SIMT_HOST_FN std::uint32_t low_bits(std::uint32_t count) { return count >= 32 ? 0xffffffffu : (1u << count) - 1; }

}  // namespace allocbench::scatteralloc
