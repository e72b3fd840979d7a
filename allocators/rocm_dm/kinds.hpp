// The sixteen block sizes ("kinds") of ROCm's device malloc and how a slab is divided for each: made on the host.
//
// ROCm device libraries, ockl/src/dm.cl: 2^k and 1.5 * 2^k from 16 to 3072 bytes. A slab has 16 bytes of header, a bit
// per block, and the blocks at its end. A block that begins at a multiple of 4 KiB is never handed out, because free
// takes such an address for a large block of the host: with blocks of 2,048 bytes that is half of them.
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
  std::uint32_t skip_from;       // slabs with as many blocks in use are looked at last: 85 % of the usable ones
  std::uint32_t first_unusable;  // block; `blocks` or more: there is none
  std::uint32_t unusable_step;   // a power of two
  std::uint32_t unused;

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

  // The bits of a word that are set in an empty slab: blocks that must not be handed out, and those beyond the last.
  SIMT_FN std::uint32_t unusable_bits(std::uint32_t word) const {
    const std::uint32_t begin_of_word = word * 32;
    std::uint32_t block = first_unusable;
    if (block < begin_of_word) block += simt::round_up(begin_of_word - block, unusable_step);
    std::uint32_t bits = blocks - begin_of_word < 32 ? ~0u << (blocks - begin_of_word) : 0;
    for (; block < begin_of_word + 32 && block < blocks; block += unusable_step) bits |= 1u << (block - begin_of_word);
    return bits;
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
    made.skip_from = static_cast<std::uint32_t>(std::uint64_t{made.usable} * 85 / 100);
    return made;
  }
};

}  // namespace allocbench::rocm_dm
