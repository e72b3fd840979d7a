// UserPattern is the pattern that the owner of a block writes after the malloc and checks before the free. It covers 64
// bytes at each end of the block, where a neighbour or a header would cause damage.
//
// The accesses are plain on purpose. So the race build can check whether the allocator orders the accesses of one owner
// after those of the previous owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace allocbench::check {

class UserPattern {
 public:
  explicit UserPattern(std::uint32_t serial) : serial_(serial) {}

  void write(std::byte* block, std::size_t bytes) const {
    for_accesses(block, bytes, [&](std::size_t offset, std::size_t width) {
      if (width == word_bytes) {
        const std::uint64_t word = word_at(offset);
        std::memcpy(__builtin_assume_aligned(block + offset, word_bytes), &word, word_bytes);
      } else {
        block[offset] = at(offset);
      }
    });
  }

  // Returns the index of the first changed byte, or `bytes` if there is none.
  std::size_t first_damage(const std::byte* block, std::size_t bytes) const {
    std::size_t damage = bytes;
    for_accesses(block, bytes, [&](std::size_t offset, std::size_t width) {
      if (damage != bytes) return;
      std::uint64_t found = 0;
      std::uint64_t expected = 0;
      if (width == word_bytes) {
        std::memcpy(&found, __builtin_assume_aligned(block + offset, word_bytes), word_bytes);
        expected = word_at(offset);
      } else {
        found = std::to_integer<std::uint64_t>(block[offset]);
        expected = std::to_integer<std::uint64_t>(at(offset));
      }
      if (found != expected) {
        damage = offset + static_cast<std::size_t>(__builtin_ctzll(found ^ expected)) / 8;
      }
    });
    return damage;
  }

  std::byte at(std::size_t offset) const { return static_cast<std::byte>((serial_ * 37 + offset * 11) | 1); }

  // Calls visit(offset, width) for each access to the edges: aligned words where possible, otherwise single bytes.
  template <class Visit>
  static void for_accesses(const std::byte* block, std::size_t bytes, Visit&& visit) {
    const std::size_t head = std::min(bytes, edge_bytes);
    for_range(block, 0, head, visit);
    for_range(block, std::max(bytes - head, head), bytes, visit);
  }

  static constexpr std::size_t edge_bytes = 64;
  static constexpr std::size_t word_bytes = 8;

 private:
  template <class Visit>
  static void for_range(const std::byte* block, std::size_t begin, std::size_t end, Visit& visit) {
    for (std::size_t offset = begin; offset < end;) {
      const bool aligned = reinterpret_cast<std::uintptr_t>(block + offset) % word_bytes == 0;
      const std::size_t width = aligned && end - offset >= word_bytes ? word_bytes : 1;
      visit(offset, width);
      offset += width;
    }
  }

  // Returns the bytes of at() as one word.
  std::uint64_t word_at(std::size_t offset) const {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < word_bytes; ++i) word |= std::to_integer<std::uint64_t>(at(offset + i)) << (8 * i);
    return word;
  }

  std::uint32_t serial_;
};

}  // namespace allocbench::check
