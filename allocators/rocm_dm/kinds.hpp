// The sixteen block sizes ("kinds") of ROCm's device malloc and how a slab is divided for each: made on the host.
//
// ROCm device libraries, ockl/src/dm.cl: 2^k and 1.5 * 2^k from 16 to 3072 bytes. A slab has 16 bytes of header, a bit
// per block, and the blocks at its end. A block that begins at a multiple of 4 KiB is never handed out, because free
// takes such an address for a large block of the host. Of blocks of 2,048 bytes this is every second one.
#pragma once

#include <numeric>

#include "simt/simt.hpp"

namespace allocbench::rocm_dm {

struct Kind {
  static constexpr std::uint32_t count = 16;
  static constexpr std::uint32_t header_bytes = 16;

  std::uint32_t bytes;
  std::uint32_t blocks;
  std::uint32_t begin;           // of block 0, in the slab
  std::uint32_t usable;          // blocks that may be handed out
  std::uint32_t skip_from;       // slabs with this many blocks in use are looked at last: 85 % of the usable ones
  std::uint32_t first_unusable;  // block; `blocks` or more: there is none
  std::uint32_t unusable_step;   // a power of two
  std::uint64_t unusable_bits;   // of each word of 64 bits that has such blocks; 0: all blocks are usable

  // The kind of a request of at most 3072 bytes. The 24-byte kind is left out: its blocks are aligned to 8 bytes only.
  SIMT_HOST_FN static std::uint32_t of_request(std::uint32_t bytes) {
    if (bytes <= 32) return bytes <= 16 ? 0 : 2;
    const std::uint32_t log2 = 32 - simt::count_leading_zeros(bytes - 1);
    const std::uint32_t power = 2 * (log2 - 4);
    return bytes <= 3u << (log2 - 2) ? power - 1 : power;
  }
  SIMT_HOST_FN static std::uint32_t next_power(std::uint32_t kind) { return kind % 2 == 0 ? kind + 2 : kind + 1; }
  static std::uint32_t bytes_of(std::uint32_t kind) { return (kind % 2 == 0 ? 16u : 24u) << kind / 2; }

  SIMT_HOST_FN std::uint32_t words() const { return (blocks + 31) / 32; }

  // The bits lie in whole words of 64, too: blocks begin at multiples of 8 bytes.
  SIMT_HOST_FN std::uint32_t long_words() const { return (blocks + 63) / 64; }

  // From a word of 64 bits that has unusable blocks to the next one, in blocks: each of them has the same bits.
  SIMT_HOST_FN std::uint32_t unusable_stride() const { return unusable_step < 64 ? 64 : unusable_step; }

  // The bits of the last word of 64 in an empty slab: blocks that must not be handed out, and what is beyond the last.
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
