// SizeClass is a size of slots. The sizes are 16 B x {1, 2, 3, 4, 6, 8, 12, ...} up to half a chunk.
//
// Class 2 i is 16 B x 2^i, and class 2 i + 1 is 24 B x 2^i. Class 1 would be 24 B, which is not a multiple of 16 B. So
// it is not used. A chunk has `slots()` slots, 32 per word of its bitmap. All values are computed, because a table
// would need a load.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::comb {

struct SizeClass {
  std::uint32_t index = 0;
  std::uint32_t chunk_log2 = 0;

  // Returns the class of a request of at most half a chunk.
  SIMT_HOST_FN static std::uint32_t of(std::uint32_t bytes) {
    const std::uint32_t last = bytes <= 16 ? 15 : bytes - 1;
    const std::uint32_t log2 = 31 - simt::count_leading_zeros(last);
    const std::uint32_t index = 2 * (log2 - 4) + 1 + (last >> (log2 - 1) & 1);
    return index == 1 ? 2 : index;
  }
  // Returns the number of classes if a chunk has 2^chunk_log2 bytes.
  SIMT_HOST_FN static std::uint32_t count(std::uint32_t chunk_log2) { return 2 * (chunk_log2 - 5) + 1; }

  SIMT_HOST_FN bool unused() const { return index == 1; }
  SIMT_HOST_FN std::uint32_t doublings() const { return index >> 1; }
  SIMT_HOST_FN bool times_three() const { return (index & 1) != 0; }
  SIMT_HOST_FN std::uint32_t slot_bytes() const { return (times_three() ? 24u : 16u) << doublings(); }
  SIMT_HOST_FN std::uint32_t slots() const {
    return times_three() ? (1u << (chunk_log2 - 3 - doublings())) / 3 : 1u << (chunk_log2 - 4 - doublings());
  }
  SIMT_HOST_FN std::uint32_t words() const { return (slots() + 31) / 32; }

  // These functions return log2, rounded down, of a number: the slots of a chunk, the slots of the first word of a
  // chunk, and the full words of a chunk (0 if it has none).
  SIMT_HOST_FN std::uint32_t slots_log2() const { return chunk_log2 - 4 - doublings() - (index & 1); }
  SIMT_HOST_FN std::uint32_t word_log2() const { return slots_log2() < 5 ? slots_log2() : 5; }
  SIMT_HOST_FN std::uint32_t words_log2() const { return slots_log2() - word_log2(); }

  // Returns the bits of a word beyond the last slot.
  SIMT_HOST_FN std::uint32_t surplus(std::uint32_t word) const {
    const std::uint32_t left = slots() - 32 * word;
    return left >= 32 ? 0 : 0xffffffffu << left;
  }
  // Returns the slot at this offset in a chunk.
  SIMT_HOST_FN std::uint32_t slot_at(std::uint32_t offset) const {
    return times_three() ? (offset >> (3 + doublings())) / 3 : offset >> (4 + doublings());
  }
};

}  // namespace allocbench::comb
