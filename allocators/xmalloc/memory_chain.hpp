// MemoryChain is the chain of Memoryblocks under XMalloc's buffers, for one thread at a time.
//
// Paper: Huang et al., CIT 2010, section V-A and figure 6. The pool is a chain of Memoryblocks. Each has a header that
// names both neighbours; malloc splits and free merges. `list_count` lists hold the free blocks. A single list, as in
// the paper, is searched first-fit; the paper states no search order. With several lists, each holds the blocks from
// one power of two up to the next. The list of the request's own power is searched first-fit, and any block of a higher
// list fits.
//
// Offsets have 32 bits and count units of 16 bytes, so pools have less than 64 GiB.
#pragma once

#include "allocators/support/common/request.hpp"
#include "simt/simt.hpp"

namespace allocbench::xmalloc {

inline constexpr std::uint32_t unit_log2 = 4;
inline constexpr std::uint32_t unit_bytes = 1u << unit_log2;

template <std::uint32_t list_count>
class MemoryChain {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint32_t lists = list_count;
  static constexpr std::uint32_t header_bytes = unit_bytes;  // bytes of the header in front of a block

  // A header and the end marker take one unit each.
  static std::size_t largest_request(std::size_t pool_bytes) {
    const std::size_t units = pool_bytes / unit_bytes;
    return units < 2 ? 0 : (units - 2) * unit_bytes;
  }

  struct Header {
    std::uint32_t next;      // units from the begin of the pool; unused in the end marker
    std::uint32_t previous;  // units from the begin of the pool; `none` for the first block
    std::uint32_t used;
    std::uint32_t tag;  // word that the caller may use
  };
  // Links lie in a free block and name its neighbours in the list.
  struct Links {
    std::uint32_t next;
    std::uint32_t previous;
  };
  struct Lists {
    std::uint32_t non_empty;  // bit i is set if list i is not empty
    std::uint32_t heads[list_count];
  };

  MemoryChain() = default;
  MemoryChain(std::byte* base, std::uint32_t units, Lists* all_lists) : base_(base), units_(units), lists_(all_lists) {}

  // Turns the whole pool into one free block. A single thread calls this function.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread) const {
    for (std::uint32_t& head : lists_->heads) store(thread, head, none);
    store(thread, lists_->non_empty, 0);
    set(thread, end(), none, 0, true);
    set(thread, 0, end(), none, false);
    link(thread, 0, end());
  }

  SIMT_FN bool refuses(std::size_t bytes) const {
    return RequestLimit{std::uint64_t{units_ - 2} * unit_bytes}.refuses(bytes);
  }
  // Returns how many units a block for this request needs, header included. refuses() must have admitted the request.
  static SIMT_FN std::uint32_t need_of(std::size_t bytes) {
    return static_cast<std::uint32_t>(units_of(std::uint64_t{bytes}, unit_log2)) + header_units;
  }
  SIMT_FN std::byte* memory_of(std::uint32_t block) const { return reinterpret_cast<std::byte*>(&header(block) + 1); }
  SIMT_FN std::uint32_t block_of(const std::byte* memory) const {
    return static_cast<std::uint32_t>((memory - base_) / unit_bytes) - header_units;
  }

  // Takes a free block of at least `need` units out of its list and splits off the rest if the rest is large enough for
  // a block. Returns `none` if no free block is large enough. Does not mark the block as used.
  template <class Thread>
  SIMT_FN std::uint32_t take(Thread& thread, std::uint32_t need) const {
    const std::uint32_t block = find(thread, need);
    if (block == none) return none;
    unlink(thread, block);
    const std::uint32_t next = load(thread, header(block).next);
    if (next - block >= need + least_units) {
      thread.probe(simt::Step::split);
      const std::uint32_t rest = block + need;
      set(thread, rest, next, block, false);
      store(thread, header(next).previous, rest);
      store(thread, header(block).next, rest);
      link(thread, rest, next);
    }
    return block;
  }

  // Makes a block free and merges it with its free neighbours.
  template <class Thread>
  SIMT_FN void merge(Thread& thread, std::uint32_t block) const {
    std::uint32_t next = load(thread, header(block).next);
    if (load(thread, header(next).used) == 0) {
      thread.probe(simt::Step::merge);
      unlink(thread, next);
      next = load(thread, header(next).next);
    }
    const std::uint32_t previous = load(thread, header(block).previous);
    if (previous != none && load(thread, header(previous).used) == 0) {
      thread.probe(simt::Step::merge);
      unlink(thread, previous);
      block = previous;
    }
    store(thread, header(block).next, next);
    store(thread, header(block).used, 0);
    store(thread, header(next).previous, block);
    link(thread, block, next);
  }

  template <class Thread>
  static SIMT_FN std::uint32_t load(Thread& thread, std::uint32_t& word) {
    return thread.atomic(word).load(simt::relaxed);
  }
  template <class Thread>
  static SIMT_FN void store(Thread& thread, std::uint32_t& word, std::uint32_t value) {
    thread.atomic(word).store(value, simt::relaxed);
  }
  SIMT_FN Header& header(std::uint32_t block) const { return reinterpret_cast<Header*>(base_)[block]; }

  // in_chain() walks through chain and lists with these functions, while no other kernel runs.
  SIMT_HOST_FN const std::byte* base() const { return base_; }
  SIMT_HOST_FN std::uint32_t end() const { return units_ - 1; }
  SIMT_FN std::uint32_t first_free(std::uint32_t list) const { return lists_->heads[list]; }
  SIMT_FN std::uint32_t next_free(std::uint32_t block) const { return links(block).next; }

 private:
  static constexpr std::uint32_t header_units = 1;
  static constexpr std::uint32_t least_units = 2;  // units of a header and the room for Links

  SIMT_FN Links& links(std::uint32_t block) const { return *reinterpret_cast<Links*>(&header(block) + 1); }

  template <class Thread>
  SIMT_FN void set(Thread& thread, std::uint32_t block, std::uint32_t next, std::uint32_t previous, bool used) const {
    store(thread, header(block).next, next);
    store(thread, header(block).previous, previous);
    store(thread, header(block).used, used ? 1 : 0);
  }

  static SIMT_FN std::uint32_t list_of(std::uint32_t units) {
    return list_count == 1 ? 0 : 31 - simt::count_leading_zeros(units);
  }

  // Returns a free block of at least `need` units, or `none`. The block stays in its list.
  template <class Thread>
  SIMT_FN std::uint32_t find(Thread& thread, std::uint32_t need) const {
    const std::uint32_t own = list_of(need);
    for (std::uint32_t block = load(thread, lists_->heads[own]); block != none;
         block = load(thread, links(block).next)) {
      if (load(thread, header(block).next) - block >= need) return block;
      thread.probe(simt::Step::walk);
    }
    if constexpr (list_count == 1) return none;
    const std::uint32_t higher = own == 31 ? 0 : load(thread, lists_->non_empty) & (~0u << (own + 1));
    return higher == 0 ? none : load(thread, lists_->heads[simt::count_trailing_zeros(higher)]);
  }

  template <class Thread>
  SIMT_FN void link(Thread& thread, std::uint32_t block, std::uint32_t next_block) const {
    const std::uint32_t list = list_of(next_block - block);
    const std::uint32_t first = load(thread, lists_->heads[list]);
    store(thread, links(block).next, first);
    store(thread, links(block).previous, none);
    if (first != none) store(thread, links(first).previous, block);
    store(thread, lists_->heads[list], block);
    if constexpr (list_count != 1) {
      store(thread, lists_->non_empty, load(thread, lists_->non_empty) | 1u << list);
    }
  }

  // Takes the block out of its list. Callers change the block's size only afterwards.
  template <class Thread>
  SIMT_FN void unlink(Thread& thread, std::uint32_t block) const {
    const std::uint32_t list = list_of(load(thread, header(block).next) - block);
    const std::uint32_t next = load(thread, links(block).next);
    const std::uint32_t previous = load(thread, links(block).previous);
    if (next != none) store(thread, links(next).previous, previous);
    if (previous != none) {
      store(thread, links(previous).next, next);
      return;
    }
    store(thread, lists_->heads[list], next);
    if constexpr (list_count != 1) {
      if (next == none) store(thread, lists_->non_empty, load(thread, lists_->non_empty) & ~(1u << list));
    }
  }

  std::byte* base_ = nullptr;
  std::uint32_t units_ = 0;
  Lists* lists_ = nullptr;
};

}  // namespace allocbench::xmalloc
