// These types hold the results of the Checked adaptor in device memory: the number of faults of each kind, the first
// fault, and the ledger of the blocks. Both device code and host reports use them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace allocbench {

enum class ContentFault : std::uint32_t {
  out_of_bounds,       // malloc returned a block that is not inside the pool
  misaligned,          // malloc returned a block that breaks the alignment of the traits
  double_hand_out,     // malloc returned an address that another thread still owns
  header_overwritten,  // free found a wrong tag
  body_overwritten,    // free found a wrong word in the rest of the block
  freed_twice,         // a thread freed a block that was already freed
  kinds
};
inline constexpr std::uint32_t content_fault_kinds = static_cast<std::uint32_t>(ContentFault::kinds);

// LedgerEntry describes a block that malloc returned. The index of the entry is the block's tag.
struct LedgerEntry {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t state;  // a LedgerState, written by atomics only
  std::uint32_t thread;
};
enum LedgerState : std::uint32_t { ledger_unused = 0, ledger_live = 1, ledger_dead = 2 };

// The host sets all bytes to zero before a pass.
struct ContentReport {
  std::uint32_t next_tag;  // this word also orders every free before every later malloc
  std::uint32_t ledger_full;
  std::uint32_t counts[content_fault_kinds];
  std::uint32_t first_claimed;
  struct {
    ContentFault fault;
    std::uint32_t thread;  // rank in the grid
    std::uint64_t address;
    std::uint64_t bytes;   // bytes of the block
    std::uint64_t offset;  // bytes from the block's begin to its first wrong word
    std::uint32_t expected;
    std::uint32_t found;
  } first;
};

// Returns word number `word` of a block with this tag. Word 0 encodes the tag, and the other words follow from it. No
// word is zero, so cleared memory counts as overwritten.
constexpr std::uint32_t content_word(std::uint32_t tag, std::uint64_t word) {
  if (word == 0) return tag ^ 0xa110cb00u;
  std::uint32_t mixed = tag * 0x9e3779b9u + static_cast<std::uint32_t>(word) * 0x85ebca6bu;
  mixed ^= mixed >> 15;
  return mixed * 0x2c1b3c6du | 1u;
}
constexpr std::uint32_t tag_of_word(std::uint32_t word) { return word ^ 0xa110cb00u; }
inline constexpr std::uint32_t dead_word = 0xdeadb10cu;

// Smaller requests are raised to this size, so that every checked block has a word for its tag.
inline constexpr std::uint64_t least_checked_bytes = 4;
// Returns the number of complete words in a block of this size.
constexpr std::uint64_t content_words(std::uint64_t bytes) { return bytes / 4; }

}  // namespace allocbench
