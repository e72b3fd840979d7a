// BlockBuffers holds the Basicblocks and Superblocks of XMalloc as published, and the two levels of buffers for the
// free ones.
//
// Paper: Huang et al., CIT 2010, sections III and V, figures 4 and 5. Details that the paper leaves open follow the
// public code. parameters.hpp gives the sources of the numbers.
//
// A Superblock is a header and up to 32 Basicblocks of one class. A Basicblock of class c has `smallest_block_bytes` *
// 2^c bytes, and its header takes 16 of them. A free Basicblock is either in a free list (first-level buffer) of its
// class, or marked by a set bit of its Superblock's word.
//
// The word of a Superblock has four fields:
// * Bits 0-31 mark the free blocks that are in no list.
// * Bits 32-51 are a tag that every change increases.
// * Bits 52-57 contain the number of blocks.
// * Bits 58-63 contain the number of free blocks that are in no list.
//
// malloc:
// 1. The lane pops a block from its own free list, or from another list of the class.
// 2. If all lists are empty, the lane pops a Superblock from the second-level buffer. If this buffer is empty too, the
//    lane cuts a new Superblock. (With the parameter `superblocks` off, the heap below the buffers serves it.)
// 3. The lane moves the free blocks of the Superblock into its own list one by one, each by a compare-exchange of the
//    word. If the list has no room for a block, the lane returns the block to the Superblock and the Superblock to the
//    buffer. If all free blocks are moved, the Superblock is in no buffer.
// 4. The lane begins again with step 1.
//
// free: The lane pushes the block into a free list. If the list is full, the lane sets the block's bit. If no bit was
// set before, the lane also puts the Superblock into the buffer. A block without a Superblock goes to the heap instead.
//
// As in the public code, a Superblock never returns to the heap. The paper says that Superblocks are freed, but not how
// one leaves its buffer.
//
// Differs from the public code: malloc returns null after the heap below has refused the lane `most_refusals` times in
// a row, or after `retry_limit` laps. The public code gives up after 10^7 laps.
#pragma once

#include "allocators/xmalloc/compare_exchange_fifo.hpp"
#include "allocators/xmalloc/layout.hpp"
#include "allocators/xmalloc/tag.hpp"

namespace allocbench::xmalloc {

struct SuperblockWord {
  static constexpr std::uint64_t one_tag = std::uint64_t{1} << 32;
  static constexpr std::uint64_t tag_bits = std::uint64_t{0xfffff} << 32;
  static constexpr std::uint64_t one_free = std::uint64_t{1} << 58;

  static SIMT_HOST_FN std::uint64_t fresh(std::uint32_t blocks) {
    return blocks * one_free | std::uint64_t{blocks} << 52 | (~0u >> (32 - blocks));
  }
  static SIMT_HOST_FN std::uint32_t mask(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static SIMT_HOST_FN std::uint32_t free_blocks(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 58); }
  static SIMT_HOST_FN std::uint64_t with_next_tag(std::uint64_t word) {
    return (word & ~tag_bits) | ((word + one_tag) & tag_bits);
  }
  static SIMT_HOST_FN std::uint64_t without(std::uint64_t word, std::uint32_t bit) {
    return with_next_tag((word & ~(std::uint64_t{1} << bit)) - one_free);
  }
  static SIMT_HOST_FN std::uint64_t with(std::uint64_t word, std::uint32_t bit) {
    return with_next_tag((word | std::uint64_t{1} << bit) + one_free);
  }
};

template <class Memory>
struct BlockBuffers : BlockClasses {
  static constexpr std::uint32_t most_refusals = 64;  // refusals of the heap below in a row after which malloc gives up

  struct SuperblockHeader {
    std::uint64_t word;
    std::uint32_t size_class;
  };

  Memory memory;
  std::uint64_t* words = nullptr;  // the FIFOs; each has two words for its ends and then its slots
  std::uint32_t lists = 0;         // free lists per class, a power of two
  std::uint32_t list_capacity = 0;
  std::uint32_t superblock_capacity = 0;
  std::uint32_t retry_limit = 0;
  std::byte** origin = nullptr;  // FIFOs hold addresses relative to this one

  SIMT_HOST_FN std::size_t words_of_fifos() const {
    return classes * (std::size_t{lists} * (list_capacity + 2) + superblock_capacity + 2);
  }
  SIMT_HOST_FN ExchangeFifo free_list(std::uint32_t size_class, std::uint32_t list) const {
    return fifo_at((std::size_t{size_class} * lists + list) * (list_capacity + 2), list_capacity);
  }
  SIMT_HOST_FN ExchangeFifo superblock_buffer(std::uint32_t size_class) const {
    const std::size_t first = std::size_t{classes} * lists * (list_capacity + 2);
    return fifo_at(first + std::size_t{size_class} * (superblock_capacity + 2), superblock_capacity);
  }

  // These two functions convert between addresses and the values in FIFOs. A value counts units of 16 bytes from the
  // origin and reaches 32 GiB to both sides.
  SIMT_FN std::uint32_t value_of(const std::byte* address) const {
    return static_cast<std::uint32_t>((address - *origin) / static_cast<std::ptrdiff_t>(unit_bytes));
  }
  SIMT_FN std::byte* address_of(std::uint32_t value) const {
    return *origin + static_cast<std::ptrdiff_t>(static_cast<std::int32_t>(value)) * unit_bytes;
  }

  // Returns the payload of a Basicblock for `bytes` <= largest_payload(), or null if repeated searches find none.
  template <class Thread>
  SIMT_FN std::byte* malloc_basic(Thread& thread, std::uint32_t bytes) const {
    const std::uint32_t size_class = class_of(bytes);
    const std::uint32_t own = choose_list(thread);
    std::uint32_t refusals = 0;
    for (std::uint32_t lap = 0; lap < retry_limit && refusals < most_refusals; ++lap) {
      std::uint32_t value;
      for (std::uint32_t i = 0; i < lists; ++i) {
        if (free_list(size_class, (own + i) & (lists - 1)).pop(thread, value)) return address_of(value);
      }
      if (!superblocks) {
        std::byte* const block = memory.malloc(thread, block_bytes(size_class) - header_bytes);
        if (block != nullptr) {
          Tag::of_basic(size_class, Tag::alone).write(thread, block);
          return block;
        }
      } else if (refill(thread, size_class, own)) {
        refusals = 0;
        continue;
      }
      ++refusals;
      thread.probe(simt::Step::retry);
      thread.spin_hint();
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN std::byte* malloc_memory(Thread& thread, std::size_t bytes) const {
    std::byte* const block = memory.malloc(thread, bytes);
    if (block != nullptr) Tag::of_whole().write(thread, block);
    return block;
  }

  // Frees a Basicblock or a block of the heap below. The tag distinguishes the two.
  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* block, Tag tag) const {
    if (tag.type() == Tag::whole) {
      memory.free(thread, block);
    } else if (!free_list(tag.size_class(), choose_list(thread)).push(thread, value_of(block))) {
      if (tag.index() == Tag::alone) {
        memory.free(thread, block);
      } else {
        return_block(thread, superblock_of(block, tag), tag);
      }
    }
  }

  SIMT_FN std::byte* block_of(std::byte* superblock, std::uint32_t size_class, std::uint32_t index) const {
    return superblock + header_bytes + (std::size_t{index} << (smallest_log2 + size_class)) + header_bytes;
  }
  SIMT_FN std::byte* superblock_of(std::byte* block, Tag tag) const {
    return block - header_bytes - (std::size_t{tag.index()} << (smallest_log2 + tag.size_class())) - header_bytes;
  }
  static SIMT_FN std::uint64_t& word_of(std::byte* superblock) {
    return reinterpret_cast<SuperblockHeader*>(superblock)->word;
  }

 private:
  SIMT_HOST_FN ExchangeFifo fifo_at(std::size_t first, std::uint32_t capacity) const {
    return {reinterpret_cast<ExchangeFifo::Ends*>(words + first), words + first + 2, capacity};
  }

  template <class Thread>
  SIMT_FN std::uint32_t choose_list(Thread& thread) const {
    return (thread.rank_in_block() * 829 + thread.block() + static_cast<std::uint32_t>(thread.clock())) & (lists - 1);
  }

  // Moves free blocks of a Superblock into the list until the list is full or no block is left. Returns false if there
  // is no Superblock.
  template <class Thread>
  SIMT_FN bool refill(Thread& thread, std::uint32_t size_class, std::uint32_t list) const {
    std::uint32_t value;
    std::byte* superblock;
    if (superblock_buffer(size_class).pop(thread, value)) {
      superblock = address_of(value);
    } else {
      superblock = cut_superblock(thread, size_class);
      if (superblock == nullptr) return false;
    }
    const auto word = thread.atomic(word_of(superblock));
    std::uint64_t seen = word.load(simt::acquire);
    while (SuperblockWord::mask(seen) != 0) {
      const std::uint32_t bit = simt::count_trailing_zeros(SuperblockWord::mask(seen));
      const std::uint64_t taken = SuperblockWord::without(seen, bit);
      if (!word.compare_exchange(seen, taken, simt::acq_rel, simt::acquire)) continue;
      if (!free_list(size_class, list).push(thread, value_of(block_of(superblock, size_class, bit)))) {
        add_bit(thread, superblock, bit);
        superblock_buffer(size_class).push(thread, value_of(superblock));
        return true;
      }
      seen = taken;
    }
    return true;
  }

  template <class Thread>
  SIMT_FN std::byte* cut_superblock(Thread& thread, std::uint32_t size_class) const {
    thread.probe(simt::Step::split);
    std::byte* const superblock = memory.malloc(thread, superblock_bytes(size_class));
    if (superblock == nullptr) return nullptr;
    thread.atomic(reinterpret_cast<SuperblockHeader*>(superblock)->size_class).store(size_class, simt::relaxed);
    for (std::uint32_t i = 0; i < blocks_per_superblock; ++i) {
      Tag::of_basic(size_class, i).write(thread, block_of(superblock, size_class, i));
    }
    // The first push, of a block or of the Superblock itself, publishes this store.
    thread.atomic(word_of(superblock)).store(SuperblockWord::fresh(blocks_per_superblock), simt::relaxed);
    return superblock;
  }

  // Sets the bit of a free block. Returns the old word.
  template <class Thread>
  SIMT_FN std::uint64_t add_bit(Thread& thread, std::byte* superblock, std::uint32_t bit) const {
    const auto word = thread.atomic(word_of(superblock));
    std::uint64_t seen = word.load(simt::relaxed);
    while (!word.compare_exchange(seen, SuperblockWord::with(seen, bit), simt::acq_rel, simt::relaxed)) {
      thread.probe(simt::Step::retry);
    }
    return seen;
  }

  template <class Thread>
  SIMT_FN void return_block(Thread& thread, std::byte* superblock, Tag tag) const {
    if (SuperblockWord::free_blocks(add_bit(thread, superblock, tag.index())) != 0) return;
    superblock_buffer(tag.size_class()).push(thread, value_of(superblock));
  }
};

}  // namespace allocbench::xmalloc
