// SlabTable is the table of slabs of LLVM libc's GPU malloc: slots with a pointer behind a guard, and a cache of empty
// slabs.
//
// llvm-project, libc/src/__support/GPU/allocator.cpp (2026). All sizes share the table by linear probing. A slot holds
// null, `making`, or the address of a slab. The lane that changes null to `making` makes a slab. In LLVM this lane
// takes the slab from the cache, or from the host if the cache is empty. In this form the pool replaces the host.
#pragma once

#include "allocators/llvm_libc/guard.hpp"
#include "allocators/llvm_libc/size_classes.hpp"
#include "allocators/llvm_libc/slab.hpp"
#include "allocators/support/common/slab_pool.hpp"

namespace allocbench::llvm_libc {

struct Slot {
  std::uint64_t slab;  // address of the slab, null or `making`
  Guard guard;
  std::uint32_t unused;

  static constexpr std::uint64_t making = ~std::uint64_t{0};
};
static_assert(sizeof(Slot) == 16);

// Claim is the result when a group of lanes tries to reserve chunks at a slot.
struct Claim {
  enum Outcome : std::uint32_t { elsewhere, out_of_memory, reserved, reserved_in_another_size };

  Outcome outcome;
  std::uint64_t slab;
  std::uint32_t first;  // number of the reservation of the group's first lane
};

struct SlabTable {
  static constexpr std::uint32_t looks_at_making = 128;

  SlabPool pool;
  Slot* slots = nullptr;
  std::uint64_t* cache = nullptr;  // addresses of empty slabs
  std::uint32_t last_slot = 0;
  std::uint32_t cached = 0;
  BitOrders orders;
  bool reclaim = true;

  SIMT_HOST_FN SlabLayout layout() const { return {pool.bytes_log2}; }
  SIMT_FN static Slab slab_at(std::uint64_t address) { return {reinterpret_cast<std::byte*>(address)}; }
  SIMT_FN std::uint64_t address_of(std::uint32_t slab) const {
    return reinterpret_cast<std::uint64_t>(pool.address(slab));
  }

  // Gets a reservation for each lane of the group in the slab of this slot. The group makes the slab if there is none.
  // With `most` != 0, the group leaves the slot alone if `most` or more chunks are reserved there. All lanes help to
  // clear the bits of a new slab; the leader does the rest. All lanes get the same `slab`, `first` and `outcome`.
  template <class Thread, class Group>
  SIMT_FN Claim claim(Thread& thread, const Group& group, std::uint32_t slot, std::uint32_t chunk,
                      std::uint32_t most) const {
    Claim result{Claim::elsewhere, 0, 0};
    std::uint32_t previous = 0;  // chunk size of the made slab's previous use; 0 if no slab was made
    if (group.leader() && (most == 0 || slots[slot].guard.read(thread, reclaim) < most)) {
      result = claim_by_leader(thread, slots[slot], chunk, group.num_threads(), previous);
    }
    previous = group.broadcast(previous);
    result.slab = group.broadcast(result.slab);
    if (previous != 0) {
      const Slab slab = slab_at(result.slab);
      if (orders.setting_acquires) group.sync();  // the leader acquired the slab, and all lanes write to it
      if (previous > chunk) slab.clear_bits(thread, group, layout().words(chunk));
      group.sync();  // the leader's release covers all lanes
      if (group.leader()) {
        thread.atomic(slab.previous()).store(previous, simt::relaxed);
        thread.atomic(slab.size_and_slot()).store(ChunkSizeAndSlot::of(chunk, slot).word, simt::relaxed);
        thread.atomic(slots[slot].slab).store(result.slab, simt::release);
        result.first = slots[slot].guard.open(thread, group.num_threads()) - group.num_threads();
      }
    }
    result.outcome = static_cast<Claim::Outcome>(group.broadcast(static_cast<std::uint32_t>(result.outcome)));
    result.first = group.broadcast(result.first);
    group.sync();  // the leader's acquire covers all lanes
    return result;
  }

  // Ends `count` reservations of one slab. The leader of the lanes with these reservations calls this function after
  // the lanes have synchronized. If no reservation is left, the slab returns to the cache or the pool, and the slot
  // becomes empty. Without `reclaim`, the slab stays.
  template <class Thread>
  SIMT_FN void leave(Thread& thread, std::uint32_t slot, std::uint64_t slab, std::uint32_t count) const {
    if (!slots[slot].guard.leave(thread, count, orders, reclaim)) return;
    give(thread, slab);
    thread.atomic(slots[slot].slab).store(0, simt::release);
  }

  // Returns a slab without a header for one large request. Returns 0 if there is no slab.
  template <class Thread>
  SIMT_FN std::uint64_t take_whole(Thread& thread) const {
    const std::uint32_t slab = pool.take(thread);
    return slab != SlabPool::none ? address_of(slab) : take_cached(thread);
  }

 private:
  template <class Thread>
  SIMT_FN Claim claim_by_leader(Thread& thread, Slot& slot, std::uint32_t chunk, std::uint32_t count,
                                std::uint32_t& previous) const {
    const auto pointer = thread.atomic(slot.slab);
    std::uint64_t slab = pointer.load(simt::relaxed);
    if (slab == 0 && pointer.compare_exchange(slab, Slot::making, simt::relaxed, simt::relaxed)) {
      slab = make(thread, previous);
      if (slab != 0) return {Claim::reserved, slab, 0};
      pointer.store(0, simt::relaxed);
      return {Claim::out_of_memory, 0, 0};
    }
    for (std::uint32_t i = 0; i < looks_at_making && slab == Slot::making; ++i) {
      thread.spin_hint();
      slab = pointer.load(simt::relaxed);
    }
    std::uint32_t after = 0;
    if (slab == 0 || slab == Slot::making || !slot.guard.claim(thread, count, after)) return {Claim::elsewhere, 0, 0};
    // The claim may apply to a newer slab than the one that was loaded.
    if (reclaim) slab = pointer.load(simt::relaxed);
    const bool fits = thread.atomic(slab_at(slab).chunk_bytes()).load(simt::relaxed) == chunk;
    return {fits ? Claim::reserved : Claim::reserved_in_another_size, slab, after - count};
  }

  // Returns the address of an empty slab, and in `previous` the chunk size of its previous use, or never_used if it
  // comes from the pool. Returns 0 if there is no slab.
  template <class Thread>
  SIMT_FN std::uint64_t make(Thread& thread, std::uint32_t& previous) const {
    if (const std::uint64_t slab = take_cached(thread)) {
      previous = thread.atomic(slab_at(slab).chunk_bytes()).load(simt::relaxed);
      return slab;
    }
    const std::uint32_t slab = pool.take(thread);
    if (slab == SlabPool::none) return 0;
    previous = SlabHeader::never_used;
    return address_of(slab);
  }

  template <class Thread>
  SIMT_FN std::uint64_t take_cached(Thread& thread) const {
    for (std::uint32_t i = 0; i < cached; ++i) {
      const auto entry = thread.atomic(cache[i]);
      std::uint64_t slab = entry.load(simt::relaxed);
      if (slab != 0 && entry.compare_exchange(slab, std::uint64_t{0}, simt::acquire, simt::relaxed)) return slab;
    }
    return 0;
  }

  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint64_t slab) const {
    for (std::uint32_t i = 0; i < cached; ++i) {
      const auto entry = thread.atomic(cache[i]);
      std::uint64_t empty = entry.load(simt::relaxed);
      if (empty == 0 && entry.compare_exchange(empty, slab, simt::release, simt::relaxed)) return;
    }
    pool.give(thread, pool.slab_of(slab_at(slab).base));
  }
};

}  // namespace allocbench::llvm_libc
