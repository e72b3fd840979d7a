// Broken lists the invariants of XMalloc that a check can find broken. in_chain() checks the chain of Memoryblocks,
// with one thread and while no other kernel runs.
#pragma once

#include "allocators/xmalloc/memory_chain.hpp"

namespace allocbench::xmalloc {

enum class Broken : std::uint32_t {
  nothing,
  fifo_counters,     // the counters disagree with each other or with the turns of the slots
  free_list_entry,   // an entry is not a Basicblock of the list's class, or the bit of the Basicblock is set too
  superblock_mask,   // a Superblock in the buffer has a wrong mask or, in the reworked form, an empty one
  kept_block,        // a kept block is among those of another size
  chain,             // a Memoryblock does not lie between its neighbours
  unmerged,          // two free Memoryblocks are side by side
  free_memory_lists  // a list lacks a free Memoryblock, or holds a used one
};

// Checks the neighbours and the lists of Memoryblocks, and that no two free Memoryblocks are side by side.
template <std::uint32_t list_count>
SIMT_FN Broken in_chain(const MemoryChain<list_count>& heap) {
  using Chain = MemoryChain<list_count>;
  const auto* const headers = reinterpret_cast<const typename Chain::Header*>(heap.base());
  std::uint32_t free_blocks = 0;
  std::uint32_t previous = Chain::none;
  for (std::uint32_t block = 0; block != heap.end(); block = headers[block].next) {
    const typename Chain::Header& header = headers[block];
    if (header.next <= block || header.next > heap.end() || header.previous != previous) return Broken::chain;
    if (header.used == 0) {
      ++free_blocks;
      if (previous != Chain::none && headers[previous].used == 0) return Broken::unmerged;
    }
    previous = block;
  }
  for (std::uint32_t list = 0; list < Chain::lists; ++list) {
    for (std::uint32_t block = heap.first_free(list); block != Chain::none; block = heap.next_free(block)) {
      if (headers[block].used != 0 || free_blocks == 0) return Broken::free_memory_lists;
      --free_blocks;
    }
  }
  return free_blocks == 0 ? Broken::nothing : Broken::free_memory_lists;
}

inline const char* text_of(Broken broken) {
  switch (broken) {
    case Broken::nothing:
      return "";
    case Broken::fifo_counters:
      return "the counters of a FIFO disagree with each other or with its slots";
    case Broken::free_list_entry:
      return "a free list holds something else than a Basicblock of its class, or one that its Superblock holds too";
    case Broken::superblock_mask:
      return "a Superblock without free Basicblocks is in the buffer";
    case Broken::kept_block:
      return "a block is kept with those of another size";
    case Broken::chain:
      return "a Memoryblock does not lie between its neighbours";
    case Broken::unmerged:
      return "two free Memoryblocks lie side by side";
    case Broken::free_memory_lists:
      return "the lists of free Memoryblocks disagree with the chain";
  }
  return "unknown";
}

}  // namespace allocbench::xmalloc
