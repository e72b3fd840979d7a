// InspectBuffers is a kernel of one thread that checks the invariants of XMalloc as published. No other kernel may run
// meanwhile.
#pragma once

#include "allocators/xmalloc/block_buffers.hpp"
#include "allocators/xmalloc/inspect_chain.hpp"

namespace allocbench::xmalloc {

struct InspectBuffers {
  template <class Thread, class Memory>
  SIMT_FN void operator()(Thread&, BlockBuffers<Memory> buffers, std::uint32_t* broken) const {
    Broken found = Broken::nothing;
    for (std::uint32_t c = 0; c < buffers.classes && found == Broken::nothing; ++c) {
      for (std::uint32_t list = 0; list < buffers.lists && found == Broken::nothing; ++list) {
        found = in_fifo(buffers.free_list(c, list), [&](std::uint32_t value) {
          std::byte* const block = buffers.address_of(value);
          const Tag tag{Tag::before(block)};
          if (tag.type() != Tag::basic || tag.size_class() != c) return Broken::free_list_entry;
          if (tag.index() == Tag::alone) return Broken::nothing;
          const std::uint64_t word = buffers.word_of(buffers.superblock_of(block, tag));
          return (word >> tag.index() & 1) != 0 ? Broken::free_list_entry : Broken::nothing;
        });
      }
      if (found != Broken::nothing) break;
      // A Superblock may be in the buffer more than once, and then it may have no free blocks.
      found = in_fifo(buffers.superblock_buffer(c), [&](std::uint32_t value) {
        const std::uint64_t word = buffers.word_of(buffers.address_of(value));
        const std::uint32_t bits = simt::popcount(SuperblockWord::mask(word));
        return bits != SuperblockWord::free_blocks(word) ? Broken::superblock_mask : Broken::nothing;
      });
    }
    if constexpr (requires { buffers.memory.base(); }) {
      if (found == Broken::nothing) found = in_chain(buffers.memory);
    }
    *broken = static_cast<std::uint32_t>(found);
  }

 private:
  template <class Judge>
  static SIMT_FN Broken in_fifo(const ExchangeFifo& fifo, Judge judge) {
    const std::uint64_t tail = fifo.ends->tail;
    const std::uint32_t last = ExchangeFifo::position_of(tail);
    if (last + 1 - fifo.ends->head > fifo.capacity) return Broken::fifo_counters;
    for (std::uint32_t position = fifo.ends->head; position != last + 1; ++position) {
      const std::uint64_t record = position == last ? tail : fifo.slots[position & (fifo.capacity - 1)];
      if (ExchangeFifo::position_of(record) != position) return Broken::fifo_counters;
      const Broken judged = judge(ExchangeFifo::value_of(record));
      if (judged != Broken::nothing) return judged;
    }
    return Broken::nothing;
  }
};

}  // namespace allocbench::xmalloc
