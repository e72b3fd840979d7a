// Inspect is a kernel of one thread that checks the invariants of the reworked XMalloc. No other kernel may run
// meanwhile. The check does not run on the host, because copying a whole pool to the host for a few headers would be
// slow.
#pragma once

#include "allocators/xmalloc/inspect_chain.hpp"
#include "allocators/xmalloc/superblock.hpp"

namespace allocbench::xmalloc {

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
    const std::uint32_t sizes = store.kept.counters == nullptr ? 0 : KeptBlocks::sizes;
    for (std::uint32_t size = 0; size < sizes && found == Broken::nothing; ++size) {
      found = in_fifo(store.kept.fifo(size), [&](std::byte* block) {
        const Tag tag{Tag::before(block)};
        const bool fits = tag.type() == Tag::whole && tag.units() != 0 && store.kept.size_of(tag.units()) == size;
        return fits ? Broken::nothing : Broken::kept_block;
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
};

}  // namespace allocbench::xmalloc
