// LLVM libc's GPU malloc has slabs of equal chunks with one bit each. Lanes reserve chunks by a reference counter of
// the slab before they search for bits.
//
// Code: llvm-project, libc/src/__support/GPU/allocator.cpp, version of July 2026 (J. Huber). There is no paper. This
// code is the malloc of upstream LLVM's OpenMP offloading on AMD GPUs. On NVIDIA GPUs, LLVM uses CUDA's malloc instead.
//
// Idea:
// * malloc: The lanes of a warp that request one size search together. They try the slot where this size last
//   succeeded, then the table, beginning at the size's home slot. One addition to a slot's counter reserves a chunk for
//   each lane. Lanes whose number is beyond the slab's last chunk end their reservation and continue. Then the lanes
//   with the same slab set bits, beginning at the number of their first lane, by one OR for each run of bits in a word.
// * free: A lane clears its bit, and the lanes of one slab lower its counter together. The lane that lowers it to zero
//   returns the slab to a cache of eight slabs. If the cache is full, the slab goes to the host (here: to the pool).
//
// Data: size_classes.hpp, slab.hpp, guard.hpp and slab_table.hpp. A hint per size has the slot of the last success.
//
// Differs from the code:
// * A pool of slabs in the arena replaces the host, from which the code requests slabs by a remote call. Fresh slabs of
//   the pool come from a counter, returned slabs from a stack. Requests of half a slab and more get a whole slab, so
//   the largest request is one slab. (In the code they get as many whole slabs as needed.) If no other slab is left,
//   they take one from the cache.
// * The table has as many slots as the pool has slabs, rounded up to a power of two, at most 32,768. The homes are
//   scaled to this number. The original always has 32,768 slots. Slabs are aligned relative to the start of the pool.
// * Each fence of the code is a release or an acquire of the operation next to it. A slot starts as invalid
//   (guard.hpp).
//
// As published: The operations on bits are relaxed (`bit_orders`). A request that equals a size of 0.75 or 0.875 times
// a power of two gets the next larger size (`rounding`). If cache and host (here: cache and pool) have no slab, a
// request fails at the first slot without a slab, even if a later slab has room.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "allocators/llvm_libc/inspect.hpp"
#include "allocators/llvm_libc/parameters.hpp"
#include "allocators/llvm_libc/slab_table.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {
namespace llvm_libc {

// Makes all slots and the cache empty, and sets the hint of each size to the home of the size.
struct PrepareTable {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, SlabTable table, std::uint32_t* hints, std::uint32_t classes) const {
    for (std::uint32_t i = thread.rank_in_grid(); i <= table.last_slot; i += thread.grid_size()) {
      thread.atomic(table.slots[i].slab).store(0, simt::relaxed);
      thread.atomic(table.slots[i].guard.counter).store(Guard::invalid, simt::relaxed);
    }
    if (thread.rank_in_grid() != 0) return;
    for (std::uint32_t i = 0; i < table.cached; ++i) thread.atomic(table.cache[i]).store(0, simt::relaxed);
    for (std::uint32_t i = 0; i < classes; ++i) {
      thread.atomic(hints[i]).store(SizeClass{0, i}.home(classes, table.last_slot), simt::relaxed);
    }
  }
};

}  // namespace llvm_libc

class LlvmLibc {
 public:
  using Parameters = llvm_libc::Parameters;
  static constexpr Traits traits{.name = "llvm_libc",
                                 .display_name = "LLVM libc",
                                 .paper = "llvm-project 2026, libc/src/__support/GPU/allocator.cpp",
                                 .summary =
                                     "slabs of equal chunks; the lanes of one size reserve by one addition, then set "
                                     "bits by an OR per word; pool-backed",
                                 .form = Form::published,
                                 .zero = ZeroBytes::null};

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.slab_bytes; }
  // The pool has six slabs of 14 chunks of 16 bytes. So four lanes that make and return slabs at the same time still
  // find a slab.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 6 * 256, .parameters = {.slab_bytes = 256, .cached_slabs = 1}};
  }
  // In this heap, a slab may have more than one word of bits.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 4 * 1024, .parameters = {.slab_bytes = 1024, .cached_slabs = 1}};
  }

  static LlvmLibc create(Arena& arena, const Parameters& parameters);

  void reset(simt::Stream& stream) {
    table_.pool.reset(stream);
    constexpr std::uint32_t threads = 128;
    simt::launch(stream, {table_.last_slot / threads + 1, threads}, llvm_libc::PrepareTable{}, table_, hints_,
                 classes_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes == 0 || limit_.refuses(bytes)) return nullptr;
    if (bytes >= limit_.bytes / 2) return reinterpret_cast<void*>(table_.take_whole(thread));
    const auto size = llvm_libc::SizeClass::of(static_cast<std::uint32_t>(bytes), rounding_);
    const auto group = thread.converged().match_any(size.number);
    const std::uint32_t chunks = table_.layout().chunks(size.bytes);
    const Reservation mine = reserve(thread, group, size, chunks);
    const auto lucky = group.partition(mine.slab != 0);
    if (mine.slab == 0) return nullptr;
    const auto same = lucky.match_any(mine.slab);
    const llvm_libc::Slab slab = table_.slab_at(mine.slab);
    const std::uint32_t chunk = slab.take_chunk(thread, same, same.broadcast(mine.number), chunks, table_.orders);
    return slab.base + table_.layout().begin(size.bytes) + std::size_t{chunk} * size.bytes;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t inside = table_.pool.inside(block);
    std::byte* const base = static_cast<std::byte*>(block) - inside;
    if (inside == 0) return table_.pool.give(thread, table_.pool.slab_of(block));
    const llvm_libc::Slab slab{base};
    // The header does not change while a chunk is in use.
    const llvm_libc::ChunkSizeAndSlot header{thread.atomic(slab.size_and_slot()).load(simt::relaxed)};
    const std::uint32_t chunk = (inside - table_.layout().begin(header.chunk_bytes())) / header.chunk_bytes();
    slab.give_chunk(thread, chunk, table_.orders);
    const auto group = thread.converged().match_any(header.slot());
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) {
      table_.leave(thread, header.slot(), reinterpret_cast<std::uint64_t>(base), group.num_threads());
    }
  }

  std::string broken_invariant(simt::Stream& stream) const { return llvm_libc::broken_slot(stream, table_); }

  const llvm_libc::SlabTable& table() const { return table_; }

 private:
  struct Reservation {
    std::uint64_t slab;  // address of the slab; 0 if the memory is exhausted
    std::uint32_t number;
  };

  // Gets a reservation for each lane of the group. Lanes that have their reservation wait for the others.
  template <class Thread, class Group>
  SIMT_FN Reservation reserve(Thread& thread, const Group& group, const llvm_libc::SizeClass& size,
                              std::uint32_t chunks) const {
    std::uint32_t hint = 0;
    if (group.leader()) hint = thread.atomic(hints_[size.number]).load(simt::relaxed);
    hint = group.broadcast(hint);
    Reservation mine{0, 0};
    bool seeks = true;
    std::uint32_t slot = hint;
    SIMT_ROLLED
    for (std::uint32_t tries = 0; tries <= table_.last_slot + 1; ++tries) {
      const auto alike = group.partition(seeks);
      if (!seeks && alike.num_threads() == group.num_threads()) break;
      if (seeks) {
        const llvm_libc::Claim claim = table_.claim(thread, alike, slot, size.bytes, tries == 0 ? 0 : chunks);
        if (claim.outcome == llvm_libc::Claim::out_of_memory) {
          seeks = false;
        } else if (claim.outcome != llvm_libc::Claim::elsewhere) {
          const std::uint32_t number = claim.first + alike.thread_rank();
          const bool keeps = claim.outcome == llvm_libc::Claim::reserved && number < chunks;
          const auto part = alike.partition(keeps);
          if (keeps) {
            mine = {claim.slab, number};
            seeks = false;
            if (slot != hint && part.leader()) thread.atomic(hints_[size.number]).store(slot, simt::relaxed);
          } else if (part.leader()) {
            table_.leave(thread, slot, claim.slab, part.num_threads());
          }
        }
        thread.probe(simt::Step::walk);
      }
      slot = tries == 0 ? size.home(classes_, table_.last_slot) : (slot == table_.last_slot ? 0 : slot + 1);
    }
    return mine;
  }

  llvm_libc::SlabTable table_;
  std::uint32_t* hints_ = nullptr;
  std::uint32_t classes_ = 0;
  llvm_libc::Rounding rounding_ = llvm_libc::Rounding::published;
  RequestLimit limit_;
};

inline LlvmLibc LlvmLibc::create(Arena& arena, const Parameters& parameters) {
  constexpr std::uint64_t most_slots = 32768;
  LlvmLibc allocator;
  llvm_libc::SlabTable& table = allocator.table_;
  table.pool = SlabPool::of_arena(arena, parameters.slab_bytes, most_slots, traits.name);
  table.last_slot = std::bit_ceil(table.pool.count) - 1;
  table.slots = arena.metadata<llvm_libc::Slot>(table.last_slot + std::size_t{1});
  table.cached = parameters.cached_slabs;
  table.cache = arena.metadata<std::uint64_t>(std::max(1u, parameters.cached_slabs));
  table.orders = parameters.chosen_orders();
  table.reclaim = parameters.reclaim;
  allocator.classes_ = llvm_libc::SizeClass::count(table.pool.bytes_log2);
  allocator.hints_ = arena.metadata<std::uint32_t>(allocator.classes_);
  allocator.rounding_ = parameters.chosen_rounding();
  allocator.limit_.bytes = parameters.slab_bytes;
  allocator.reset(arena.stream());
  return allocator;
}

}  // namespace allocbench

ALLOCBENCH_REGISTER(llvm_libc, LlvmLibc)
