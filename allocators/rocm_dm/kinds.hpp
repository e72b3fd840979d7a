// Kind is one of the sixteen block sizes of ROCm's device malloc, with the layout of a slab for this size. The host
// computes the kinds.
//
// Code: ROCm device libraries, ockl/src/dm.cl. Sizes are 2^k and 1.5 * 2^k from 16 to 3072 bytes. A slab has a header
// of 16 bytes, one bit per block, and the blocks at its end. A block that begins at a multiple of 4 KiB
// (`large_alignment_bytes`) is never handed out, because the original's free takes such an address for a large block of
// the host. So every second block of 2,048 bytes is unusable.
#pragma once

#include <numeric>

#include "simt/simt.hpp"

namespace allocbench::rocm_dm {

struct Kind {
  static constexpr std::uint32_t count = 16;
  static constexpr std::uint32_t header_bytes = 16;

  std::uint32_t bytes;
  std::uint32_t blocks;
  std::uint32_t begin;           // offset of block 0 in the slab
  std::uint32_t usable;          // number of blocks that may be handed out
  std::uint32_t skip_from;       // a slab with this many blocks in use is searched last; 85 % of the usable blocks
  std::uint32_t first_unusable;  // first unusable block; `blocks` or more if there is none
  std::uint32_t unusable_step;   // blocks from one unusable block to the next, a power of two
  std::uint64_t unusable_bits;   // bits of unusable blocks in each 64-bit word that has any; 0 if all blocks are usable

  // Returns the kind of a request of at most 3072 bytes. Skips the 24-byte kind, whose blocks are aligned only to 8
  // bytes.
  SIMT_HOST_FN static std::uint32_t of_request(std::uint32_t bytes) {
    if (bytes <= 32) return bytes <= 16 ? 0 : 2;
    const std::uint32_t log2 = 32 - simt::count_leading_zeros(bytes - 1);
    const std::uint32_t power = 2 * (log2 - 4);
    return bytes <= 3u << (log2 - 2) ? power - 1 : power;
  }
  SIMT_HOST_FN static std::uint32_t next_power(std::uint32_t kind) { return kind % 2 == 0 ? kind + 2 : kind + 1; }
  static std::uint32_t bytes_of(std::uint32_t kind) { return (kind % 2 == 0 ? 16u : 24u) << kind / 2; }

  SIMT_HOST_FN std::uint32_t words() const { return (blocks + 31) / 32; }

  // Returns the number of 64-bit words of a slab's bits. The last word does not overlap the blocks, because the header
  // and the offset of the blocks are multiples of 8 bytes.
  SIMT_HOST_FN std::uint32_t long_words() const { return (blocks + 63) / 64; }

  // Returns the distance in blocks from a 64-bit word with unusable blocks to the next one. All such words have the
  // same bits.
  SIMT_HOST_FN std::uint32_t unusable_stride() const { return unusable_step < 64 ? 64 : unusable_step; }

  // Returns the last 64-bit word of an empty slab. Its set bits are unusable blocks and the places beyond the last
  // block.
  SIMT_HOST_FN std::uint64_t last_empty_bits() const {
    const std::uint32_t begin_of_word = (long_words() - 1) * 64;
    const std::uint32_t first = (first_unusable - begin_of_word) & (unusable_step - 1);
    const std::uint64_t bits = first < 64 ? unusable_bits : 0;
    const std::uint32_t left = blocks - begin_of_word;
    return left < 64 ? bits | ~std::uint64_t{0} << left : bits;
  }

  static Kind of(std::uint32_t kind, std::uint32_t slab_bytes, std::uint32_t large_alignment) {
    Kind made{};
    made.bytes = bytes_of(kind);
    if (slab_bytes < header_bytes + 4 + made.bytes) return made;
    made.blocks = (slab_bytes - header_bytes) / made.bytes;
    while (header_bytes + 4 * made.words() + made.blocks * made.bytes > slab_bytes) --made.blocks;
    made.begin = slab_bytes - made.blocks * made.bytes;
    made.unusable_step = large_alignment / std::gcd(large_alignment, made.bytes);
    made.first_unusable = 0;
    while (made.first_unusable < made.blocks &&
           (made.begin + made.first_unusable * made.bytes) % large_alignment != 0) {
      ++made.first_unusable;
    }
    const std::uint32_t from = made.first_unusable;
    const std::uint32_t lost = from < made.blocks ? (made.blocks - 1 - from) / made.unusable_step + 1 : 0;
    made.usable = made.blocks - lost;
    for (std::uint32_t bit = from % 64; lost != 0 && bit < 64; bit += made.unusable_step) {
      made.unusable_bits |= std::uint64_t{1} << bit;
    }
    made.skip_from = static_cast<std::uint32_t>(std::uint64_t{made.usable} * 85 / 100);
    return made;
  }
};

}  // namespace allocbench::rocm_dm
