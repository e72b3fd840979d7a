// The invariants of XMalloc, checked by one thread of a kernel when no other kernel runs: copying a whole pool to the
// host for a few headers is slow.
#pragma once

#include "allocators/xmalloc/superblock.hpp"

namespace allocbench::xmalloc {

enum class Broken : std::uint32_t {
  nothing,
  fifo_counters,     // they disagree with each other or with the turns of the slots
  free_list_entry,   // no Basicblock of the list's class, or its bit is set too
  superblock_mask,   // a Superblock in the buffer without free Basicblocks
  chain,             // a Memoryblock that does not lie between its neighbours
  unmerged,          // two free Memoryblocks side by side
  free_memory_lists  // a free Memoryblock is missing in them, or one that is not free is there
};

struct Inspect {
  template <class Thread, class Memory>
  SIMT_FN void operator()(Thread&, BlockStore<Memory> store, std::uint32_t* broken) const {
    Broken found = Broken::nothing;
    for (std::uint32_t c = 0; c < Buffers::classes && found == Broken::nothing; ++c) {
      for (std::uint32_t list = 0; list < store.buffers.lists && found == Broken::nothing; ++list) {
        found = in_fifo(store.buffers.free_list(c, list), [&](std::byte* block) {
          const Tag tag{Tag::before(block)};
          if (tag.type() != Tag::basic || tag.size_class() != c) return Broken::free_list_entry;
          if (tag.index() == Tag::alone) return Broken::nothing;
          const bool twice = (store.mask(store.superblock_of(block, tag)) >> tag.index() & 1) != 0;
          return twice ? Broken::free_list_entry : Broken::nothing;
        });
      }
      if (found != Broken::nothing) break;
      found = in_fifo(store.buffers.superblocks(c), [&](std::byte* superblock) {
        const std::uint32_t bits = store.mask(superblock);
        return bits == 0 || (bits & ~store.all_bits()) != 0 ? Broken::superblock_mask : Broken::nothing;
      });
    }
    if constexpr (requires { store.memory.end(); }) {
      if (found == Broken::nothing) found = in_chain(store.memory);
    }
    *broken = static_cast<std::uint32_t>(found);
  }

 private:
  template <class Judge>
  static SIMT_FN Broken in_fifo(const Fifo& fifo, Judge judge) {
    const FifoCounters& counters = *fifo.counters;
    if (counters.room + counters.filled != fifo.capacity || counters.tail - counters.head != counters.filled) {
      return Broken::fifo_counters;
    }
    for (std::uint32_t number = counters.head; number != counters.tail; ++number) {
      const FifoSlot& slot = fifo.slots[number & (fifo.capacity - 1)];
      if (slot.turn != number + 1) return Broken::fifo_counters;
      const Broken judged = judge(reinterpret_cast<std::byte*>(slot.value));
      if (judged != Broken::nothing) return judged;
    }
    return Broken::nothing;
  }

  static SIMT_FN Broken in_chain(const MemoryblockHeap& heap) {
    const auto* const headers = reinterpret_cast<const MemoryblockHeap::Header*>(heap.base());
    std::uint32_t free_blocks = 0;
    std::uint32_t previous = MemoryblockHeap::none;
    for (std::uint32_t block = 0; block != heap.end(); block = headers[block].next) {
      const MemoryblockHeap::Header& header = headers[block];
      if (header.next <= block || header.next > heap.end() || header.previous != previous) return Broken::chain;
      if (header.used == 0) {
        ++free_blocks;
        if (previous != MemoryblockHeap::none && headers[previous].used == 0) return Broken::unmerged;
      }
      previous = block;
    }
    for (std::uint32_t list = 0; list < MemoryblockHeap::lists; ++list) {
      for (std::uint32_t block = heap.first_free(list); block != MemoryblockHeap::none; block = heap.next_free(block)) {
        if (headers[block].used != 0 || free_blocks == 0) return Broken::free_memory_lists;
        --free_blocks;
      }
    }
    return free_blocks == 0 ? Broken::nothing : Broken::free_memory_lists;
  }
};

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
