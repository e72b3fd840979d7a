// BlockStore holds the Basicblocks and Superblocks of the reworked XMalloc, and the two levels of buffers for the free
// ones.
//
// Paper: Huang et al., CIT 2010, sections III and V, figures 4 and 5. tag.hpp describes type tags.
//
// A Superblock is a header and up to 32 Basicblocks of one class. A Basicblock of class c has `smallest_block_bytes` *
// 2^c bytes, and its header takes 16 of them. A free Basicblock is either in a free list (first-level buffer) of its
// class, or marked by a set bit in its Superblock's mask. A Superblock with a set bit is in the Superblock buffer
// (second level) of its class.
//
// Protocol of the mask word:
// * give back: A thread executes fetch_or(bits) with acq_rel. The thread that makes the mask non-zero puts the
//   Superblock into the buffer.
// * take: The thread that popped the Superblock from the buffer executes exchange(0) with acquire. This thread owns all
//   bits that it finds.
//
// So a Superblock is in the buffer at most once, and a buffer with room for every Superblock of the pool never
// overflows. Both operations are unconditional, so there is no ABA. The published form packs counts beside the mask in
// 64 bits and moves one Basicblock per compare-exchange.
#pragma once

#include "allocators/support/common/lock.hpp"
#include "allocators/xmalloc/fifo.hpp"
#include "allocators/xmalloc/kept_blocks.hpp"
#include "allocators/xmalloc/layout.hpp"
#include "allocators/xmalloc/memoryblock.hpp"
#include "allocators/xmalloc/tag.hpp"
#include "simt/simt.hpp"

namespace allocbench::xmalloc {

// Buffers is the layout of the buffers. The free lists of all classes come first, then the Superblock buffers. The
// capacities of the Superblock buffers halve from class to class, like the number of Superblocks that fit the pool.
struct Buffers {
  static constexpr std::uint32_t classes = BlockClasses::classes;

  FifoCounters* counters = nullptr;
  FifoSlot* slots = nullptr;
  std::uint32_t lists = 0;                // free lists per class, a power of two
  std::uint32_t list_capacity = 0;        // a power of two
  std::uint32_t superblock_capacity = 0;  // capacity for class 0, a power of two, at least 2^classes

  SIMT_HOST_FN std::uint32_t fifos() const { return classes * (lists + 1); }
  SIMT_HOST_FN std::size_t slot_count() const {
    return std::size_t{classes} * lists * list_capacity + 2 * std::size_t{superblock_capacity};
  }
  SIMT_HOST_FN Fifo free_list(std::uint32_t size_class, std::uint32_t list) const {
    const std::uint32_t number = size_class * lists + list;
    return {counters + number, slots + std::size_t{number} * list_capacity, list_capacity};
  }
  SIMT_HOST_FN Fifo superblocks(std::uint32_t size_class) const {
    const std::size_t before = 2 * (std::size_t{superblock_capacity} - (superblock_capacity >> size_class));
    return {counters + classes * lists + size_class, slots + std::size_t{classes} * lists * list_capacity + before,
            superblock_capacity >> size_class};
  }
};

template <class Memory>
struct BlockStore : BlockClasses {
  static constexpr std::uint32_t most_vain_attempts = 4;
  static constexpr std::uint32_t most_attempts = 256;

  Memory memory;
  Buffers buffers;
  KeptBlocks kept;
  std::uint32_t* reclaiming = nullptr;  // 1 while a thread takes the buffers apart
  std::uint32_t* created = nullptr;     // number of Superblocks that were cut
  std::uint32_t* refills = nullptr;     // number of refills that left blocks for others

  // Returns the payload of a Basicblock for `bytes` <= largest_payload(), or null if repeated attempts find none.
  //
  // Lanes that find the free lists empty refill together, one Superblock after the other. So the lanes of a warp that
  // refill the same class at the same time usually take one Superblock together, not one each. Many warps may still
  // hold all Superblocks for a moment, each for one block. So a lane returns null only after `most_vain_attempts`
  // attempts in a row during which no refill left blocks for others, or after `most_attempts` attempts.
  template <class Thread>
  SIMT_FN std::byte* malloc_basic(Thread& thread, std::uint32_t bytes) const {
    const std::uint32_t size_class = class_of(bytes);
    std::uint32_t vain = 0;
    std::uint32_t refills_seen = 0;
    for (std::uint32_t attempt = 1;; ++attempt) {
      std::byte* block = pop_lists(thread, size_class);
      if (block != nullptr) return block;
      if (superblocks) {
        block = refill(thread, thread.converged().match_any(size_class), size_class);
      } else {
        block = memory.malloc(thread, block_bytes(size_class) - header_bytes);
        if (block != nullptr) Tag::of_basic(size_class, Tag::alone).write(thread, block);
      }
      if (block != nullptr) return block;
      const std::uint32_t refills_now = thread.atomic(*refills).load(simt::relaxed);
      vain = attempt != 1 && refills_now == refills_seen ? vain + 1 : 0;
      refills_seen = refills_now;
      if (vain == most_vain_attempts || attempt == most_attempts) return nullptr;
      reclaim(thread);
    }
  }

  template <class Thread>
  SIMT_FN std::byte* malloc_memory(Thread& thread, std::size_t bytes) const {
    std::uint32_t units = kept.units_for(bytes);
    std::byte* block = units == 0 || !kept.any(thread) ? nullptr : kept.take(thread, units);
    if (block != nullptr) return block;
    block = memory.malloc(thread, units == 0 ? bytes : std::size_t{units} * unit_bytes);
    if (block == nullptr) {
      const bool returned = return_kept_blocks(thread);
      if (returned || units != 0) block = memory.malloc(thread, bytes);
      units = 0;  // the block has no rounded size, so it cannot be kept
    }
    if (block == nullptr) {
      reclaim(thread);
      block = memory.malloc(thread, bytes);
    }
    if (block != nullptr) Tag::of_whole(units).write(thread, block);
    return block;
  }

  // Frees a Basicblock or a block of the heap below. The tag distinguishes the two.
  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* block, Tag tag) const {
    if (tag.type() == Tag::whole) {
      if (!kept.keep(thread, block, tag)) memory.free(thread, block);
    } else if (!buffers.free_list(tag.size_class(), own_list(thread)).push(thread, address(block))) {
      free_past_list(thread, block, tag);
    }
  }

  SIMT_FN std::byte* block_of(std::byte* superblock, std::uint32_t size_class, std::uint32_t index) const {
    return superblock + header_bytes + (std::size_t{index} << (smallest_log2 + size_class)) + header_bytes;
  }
  SIMT_FN std::byte* superblock_of(std::byte* block, Tag tag) const {
    return block - header_bytes - (std::size_t{tag.index()} << (smallest_log2 + tag.size_class())) - header_bytes;
  }
  SIMT_FN std::uint32_t all_bits() const { return ~0u >> (32 - blocks_per_superblock); }
  static SIMT_FN std::uint32_t& mask(std::byte* superblock) { return *reinterpret_cast<std::uint32_t*>(superblock); }

 private:
  static SIMT_FN std::uint64_t address(const std::byte* memory_) { return reinterpret_cast<std::uint64_t>(memory_); }

  template <class Thread>
  SIMT_FN std::uint32_t own_list(Thread& thread) const {
    return (thread.sm() + thread.warp_slot()) & (buffers.lists - 1);
  }

  template <class Thread>
  SIMT_FN std::byte* pop_lists(Thread& thread, std::uint32_t size_class) const {
    const std::uint32_t own = own_list(thread);
    for (std::uint32_t i = 0; i < buffers.lists; ++i) {
      std::uint64_t found;
      if (buffers.free_list(size_class, (own + i) & (buffers.lists - 1)).pop(thread, found)) {
        return reinterpret_cast<std::byte*>(found);
      }
    }
    return nullptr;
  }

  // Returns a Basicblock to every lane of the group, or null to the last lanes if the heap below has no room. The rest
  // of the last Superblock goes to the leader's free list. Blocks that do not fit there return to the Superblock.
  template <class Thread, class Group>
  SIMT_FN std::byte* refill(Thread& thread, const Group& group, std::uint32_t size_class) const {
    const std::uint32_t rank = group.thread_rank();
    const std::uint32_t lanes = group.num_threads();
    std::byte* mine = nullptr;
    for (std::uint32_t served = 0; served < lanes;) {
      std::byte* superblock = nullptr;
      std::uint32_t bits = 0;
      if (group.leader()) superblock = take_superblock(thread, size_class, bits);
      superblock = reinterpret_cast<std::byte*>(group.broadcast(reinterpret_cast<std::uint64_t>(superblock)));
      bits = group.broadcast(bits);
      if (superblock == nullptr) break;
      const std::uint32_t found = simt::popcount(bits);
      if (rank - served < found) {
        mine = block_of(superblock, size_class, simt::nth_set_bit(bits, rank - served));
      }
      if (found > lanes - served && group.leader()) {
        const std::uint32_t first = simt::nth_set_bit(bits, lanes - served);
        put_away(thread, superblock, size_class, bits & (~0u << first));
      }
      served += found;
    }
    group.sync();  // the leader's acquire covers all lanes
    return mine;
  }

  template <class Thread>
  SIMT_FN void put_away(Thread& thread, std::byte* superblock, std::uint32_t size_class, std::uint32_t bits) const {
    buffers.free_list(size_class, own_list(thread)).push_some(thread, simt::popcount(bits), [&](std::uint32_t) {
      const std::uint32_t next = simt::count_trailing_zeros(bits);
      bits &= bits - 1;
      return address(block_of(superblock, size_class, next));
    });
    if (bits != 0) give_back(thread, superblock, size_class, bits);
    thread.atomic(*refills).fetch_add(1u, simt::relaxed);
  }

  // Returns a Superblock from the buffer, or a new one if the buffer is empty. Sets `bits` to its free Basicblocks,
  // which the caller then owns. Returns null if the heap below has no room.
  template <class Thread>
  SIMT_FN std::byte* take_superblock(Thread& thread, std::uint32_t size_class, std::uint32_t& bits) const {
    std::uint64_t found;
    if (buffers.superblocks(size_class).pop(thread, found)) {
      auto* const superblock = reinterpret_cast<std::byte*>(found);
      bits = thread.atomic(mask(superblock)).exchange(0u, simt::acquire);
      return superblock;
    }
    thread.probe(simt::Step::split);
    std::byte* superblock = memory.malloc(thread, superblock_bytes(size_class));
    if (superblock == nullptr && return_kept_blocks(thread)) {
      superblock = memory.malloc(thread, superblock_bytes(size_class));
    }
    if (superblock == nullptr) return nullptr;
    thread.atomic(*created).fetch_add(1u, simt::relaxed);
    // Other threads see this store, because a FIFO slot, group.sync() or the user passes them a block.
    thread.atomic(mask(superblock)).store(0, simt::relaxed);
    for (std::uint32_t i = 0; i < blocks_per_superblock; ++i) {
      Tag::of_basic(size_class, i).write(thread, block_of(superblock, size_class, i));
    }
    bits = all_bits();
    return superblock;
  }

  template <class Thread>
  SIMT_FN void give_back(Thread& thread, std::byte* superblock, std::uint32_t size_class, std::uint32_t bits) const {
    if (thread.atomic(mask(superblock)).fetch_or(bits, simt::acq_rel) == 0) {
      buffers.superblocks(size_class).push_surely(thread, address(superblock));
    }
  }

  template <class Thread>
  SIMT_FN void free_past_list(Thread& thread, std::byte* block, Tag tag) const {
    if (tag.index() == Tag::alone) {
      memory.free(thread, block);
    } else {
      give_back(thread, superblock_of(block, tag), tag.size_class(), 1u << tag.index());
    }
  }

  // Makes room in the heap below: empties the free lists into the Superblocks, and returns entirely free Superblocks.
  // One thread does this, and the others wait until it has finished. (The paper frees Superblocks too, but does not say
  // how a Superblock in the middle of a buffer leaves it.)
  template <class Thread>
  SIMT_NOINLINE_FN void reclaim(Thread& thread) const {
    if (!try_lock(thread, *reclaiming)) {
      await_unlocked(thread, *reclaiming);
      return;
    }
    for (std::uint32_t size_class = 0; size_class < classes; ++size_class) {
      for (std::uint32_t list = 0; list < buffers.lists; ++list) {
        empty_list(thread, buffers.free_list(size_class, list));
      }
      return_free_superblocks(thread, size_class);
    }
    unlock(thread, *reclaiming);
  }

  // Gives the kept blocks back to the heap below. Returns false if there are none. Lanes that come together return
  // blocks together: neighbouring blocks that a warp frees are freed as one (memoryblock.hpp).
  template <class Thread>
  SIMT_NOINLINE_FN bool return_kept_blocks(Thread& thread) const {
    constexpr std::uint32_t vain_looks = 64;  // number of vain looks for blocks that other lanes process
    if (!kept.any(thread)) return false;
    const auto group = thread.converged();
    for (std::uint32_t size = 0; size < KeptBlocks::sizes; ++size) {
      for (std::uint32_t left = kept.fifo(size).capacity + vain_looks; left != 0; --left) {
        if (!group.any(group.leader() && kept.fifo(size).holds_any(thread))) break;
        std::uint64_t block = 0;
        const bool mine = kept.fifo(size).pop_together(thread, group, block);
        if (mine) memory.free(thread, reinterpret_cast<std::byte*>(block));
        const std::uint32_t returned = simt::popcount(group.ballot(mine));
        if (group.leader() && returned != 0) thread.atomic(*kept.count).fetch_sub(returned, simt::acq_rel);
        if (returned == 0) thread.spin_hint();
      }
    }
    for (std::uint32_t look = 0; look < vain_looks && kept.any(thread); ++look) thread.spin_hint();
    return true;
  }

  template <class Thread>
  SIMT_FN void empty_list(Thread& thread, const Fifo& list) const {
    std::uint64_t found;
    for (std::uint32_t left = list.size_hint(thread); left != 0 && list.pop(thread, found); --left) {
      auto* const block = reinterpret_cast<std::byte*>(found);
      free_past_list(thread, block, Tag::read(thread, block));
    }
  }

  template <class Thread>
  SIMT_FN void return_free_superblocks(Thread& thread, std::uint32_t size_class) const {
    const Fifo fifo = buffers.superblocks(size_class);
    std::uint64_t found;
    for (std::uint32_t left = fifo.size_hint(thread); left != 0 && fifo.pop(thread, found); --left) {
      auto* const superblock = reinterpret_cast<std::byte*>(found);
      const std::uint32_t bits = thread.atomic(mask(superblock)).exchange(0u, simt::acquire);
      if (bits == all_bits()) {
        thread.atomic(*created).fetch_sub(1u, simt::relaxed);
        memory.free(thread, superblock);
      } else {
        give_back(thread, superblock, size_class, bits);
      }
    }
  }
};

}  // namespace allocbench::xmalloc
