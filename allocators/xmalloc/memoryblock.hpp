// Memoryblocks: the heap under XMalloc's buffers, and the device heap that took its place in the later form.
//
// Both give memory with four bytes in front of it that are the caller's, for the type tag (superblock.hpp).
//
// MemoryblockHeap (paper, section V-A and figure 6): the pool is a chain of Memoryblocks, each with a header that names
// both neighbours; malloc splits, free merges. The paper describes no concurrent protocol. Chosen here: one lock for
// chain and lists, which one lane takes for all lanes of the warp that come together. They divide one free block among
// them if one is large enough, else they go one after the other. Free blocks are in lists by the power of two of their
// size (paper: one list): the list of the own power is searched first-fit, any block of a higher one fits.
//
// Offsets are in units of 16 bytes, 32 bits: pools up to 64 GiB.
#pragma once

#include "allocators/common/device_heap_share.hpp"
#include "allocators/common/lock.hpp"
#include "allocators/common/request.hpp"
#include "simt/simt.hpp"

namespace allocbench::xmalloc {

inline constexpr std::uint32_t unit_log2 = 4;
inline constexpr std::uint32_t unit_bytes = 1u << unit_log2;

class MemoryblockHeap {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint32_t lists = 32;

  // A header and the end marker take a unit each.
  static std::size_t largest_request(std::size_t pool_bytes) {
    const std::size_t units = pool_bytes / unit_bytes;
    return units < 2 ? 0 : (units - 2) * unit_bytes;
  }

  struct Header {
    std::uint32_t next;      // units; of the end marker: unused
    std::uint32_t previous;  // `none` for the first
    std::uint32_t used;
    std::uint32_t tag;  // the caller's
  };
  // Where a free block keeps its neighbours in the list.
  struct Links {
    std::uint32_t next;
    std::uint32_t previous;
  };
  struct Control {
    TicketLock lock;
    alignas(128) std::uint32_t non_empty;  // bit i: list i
    std::uint32_t heads[lists];
  };

  MemoryblockHeap() = default;
  MemoryblockHeap(std::byte* base, std::uint32_t units, Control* control)
      : base_(base), units_(units), control_(control) {}

  // One free block; a single thread calls it.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread) const {
    for (std::uint32_t list = 0; list < lists; ++list) thread.atomic(control_->heads[list]).store(none, simt::relaxed);
    thread.atomic(control_->lock.next_ticket).store(0, simt::relaxed);
    thread.atomic(control_->lock.serving).store(0, simt::relaxed);
    thread.atomic(control_->non_empty).store(0, simt::relaxed);
    set(thread, end(), none, 0, true);
    set(thread, 0, end(), none, false);
    link(thread, 0, end());
  }

  template <class Thread>
  SIMT_FN std::byte* malloc(Thread& thread, std::size_t bytes) const {
    if (RequestLimit{std::uint64_t{units_ - 2} * unit_bytes}.refuses(bytes)) return nullptr;
    const auto need = static_cast<std::uint32_t>(units_of(std::uint64_t{bytes}, unit_log2)) + header_units;
    const auto group = thread.converged();
    control_->lock.lock(thread, group);
    std::uint32_t block = take_together(thread, group, need);
    if (block == none) {
      in_turn(group, [&] {
        block = take(thread, need);
        if (block != none) store(thread, header(block).used, 1);
      });
    }
    control_->lock.unlock(thread, group);
    return block == none ? nullptr : reinterpret_cast<std::byte*>(&header(block) + 1);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* memory) const {
    const auto group = thread.converged();
    control_->lock.lock(thread, group);
    in_turn(group, [&] { merge(thread, static_cast<std::uint32_t>((memory - base_) / unit_bytes) - 1); });
    control_->lock.unlock(thread, group);
  }

  // For a walk through chain and lists when nobody else runs.
  SIMT_HOST_FN const std::byte* base() const { return base_; }
  SIMT_HOST_FN std::uint32_t end() const { return units_ - 1; }
  SIMT_FN std::uint32_t first_free(std::uint32_t list) const { return control_->heads[list]; }
  SIMT_FN std::uint32_t next_free(std::uint32_t block) const { return links(block).next; }

 private:
  static constexpr std::uint32_t header_units = 1;
  static constexpr std::uint32_t least_units = 2;  // a header and room for Links

  SIMT_FN Header& header(std::uint32_t block) const { return reinterpret_cast<Header*>(base_)[block]; }
  SIMT_FN Links& links(std::uint32_t block) const { return *reinterpret_cast<Links*>(&header(block) + 1); }

  template <class Thread>
  static SIMT_FN std::uint32_t load(Thread& thread, std::uint32_t& word) {
    return thread.atomic(word).load(simt::relaxed);
  }
  template <class Thread>
  static SIMT_FN void store(Thread& thread, std::uint32_t& word, std::uint32_t value) {
    thread.atomic(word).store(value, simt::relaxed);
  }

  template <class Thread>
  SIMT_FN void set(Thread& thread, std::uint32_t block, std::uint32_t next, std::uint32_t previous, bool used) const {
    store(thread, header(block).next, next);
    store(thread, header(block).previous, previous);
    store(thread, header(block).used, used ? 1 : 0);
  }

  template <class Group, class Work>
  static SIMT_FN void in_turn(const Group& group, Work work) {
    for (std::uint32_t rank = 0; rank < group.num_threads(); ++rank) {
      if (group.thread_rank() == rank) work();
      group.sync();  // what one lane wrote, the next one reads
    }
  }

  // Takes a free block of at least `need` units out of its list and splits off the rest; `none` if there is none.
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

  // Neighbouring blocks for all lanes, out of one free block; `none` for all when no free block is large enough.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take_together(Thread& thread, const Group& group, std::uint32_t need) const {
    if (group.num_threads() == 1 || !group.all(need <= end() / simt::warp_size)) return none;
    const std::uint32_t offset = group.exclusive_sum(need);
    const std::uint32_t total = group.reduce_add(need);
    std::uint32_t first = none;
    std::uint32_t behind = none;
    if (group.leader()) first = take(thread, total);
    if (first != none) behind = load(thread, header(first).next);
    first = group.broadcast(first);
    behind = group.broadcast(behind);
    if (first == none) return none;
    group.sync();  // what the leader wrote to the headers comes before what the lanes do
    const std::uint32_t block = first + offset;
    const std::uint32_t next = offset + need == total ? behind : block + need;
    store(thread, header(block).next, next);
    store(thread, header(block).used, 1);
    store(thread, header(next).previous, block);
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

  static SIMT_FN std::uint32_t list_of(std::uint32_t units) { return 31 - simt::count_leading_zeros(units); }

  // A free block of at least `need` units, still in its list.
  template <class Thread>
  SIMT_FN std::uint32_t find(Thread& thread, std::uint32_t need) const {
    const std::uint32_t own = list_of(need);
    for (std::uint32_t block = load(thread, control_->heads[own]); block != none;
         block = load(thread, links(block).next)) {
      if (load(thread, header(block).next) - block >= need) return block;
      thread.probe(simt::Step::walk);
    }
    const std::uint32_t higher = own == 31 ? 0 : load(thread, control_->non_empty) & (~0u << (own + 1));
    return higher == 0 ? none : load(thread, control_->heads[simt::count_trailing_zeros(higher)]);
  }

  template <class Thread>
  SIMT_FN void link(Thread& thread, std::uint32_t block, std::uint32_t next_block) const {
    const std::uint32_t list = list_of(next_block - block);
    const std::uint32_t first = load(thread, control_->heads[list]);
    store(thread, links(block).next, first);
    store(thread, links(block).previous, none);
    if (first != none) store(thread, links(first).previous, block);
    store(thread, control_->heads[list], block);
    store(thread, control_->non_empty, load(thread, control_->non_empty) | 1u << list);
  }

  // Before the block's size changes.
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
    store(thread, control_->heads[list], next);
    if (next == none) store(thread, control_->non_empty, load(thread, control_->non_empty) & ~(1u << list));
  }

  std::byte* base_ = nullptr;
  std::uint32_t units_ = 0;
  Control* control_ = nullptr;
};

// The later form: superblocks and large blocks come from the back end's device heap, with a unit in front for the tag.
class DeviceHeapMemory {
 public:
  static std::size_t largest_request(std::size_t heap_bytes) {
    const std::size_t largest = largest_in_device_heap(heap_bytes) / unit_bytes * unit_bytes;
    return largest < unit_bytes ? 0 : largest - unit_bytes;
  }

  DeviceHeapMemory() = default;
  explicit DeviceHeapMemory(std::size_t heap_bytes) : limit_{heap_bytes} {}

  template <class Thread>
  SIMT_FN std::byte* malloc(Thread& thread, std::size_t bytes) const {
    if (limit_.refuses(bytes)) return nullptr;
    auto* const memory = static_cast<std::byte*>(thread.device_heap().malloc(bytes + unit_bytes));
    return memory == nullptr ? nullptr : memory + unit_bytes;
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* memory) const {
    thread.device_heap().free(memory - unit_bytes);
  }

 private:
  RequestLimit limit_;
};

}  // namespace allocbench::xmalloc
