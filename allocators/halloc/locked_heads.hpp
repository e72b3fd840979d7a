// LockedHeads finds and replaces the heads of the published Halloc. A head is the slab from which a size allocates.
//
// Adinetz & Pleiter 2014, "Head Replacement Tricks", "Slab Search Order". One thread at a time replaces the head of a
// size, under the lock of the size. It publishes the slab that was found in advance, detaches the old head and looks
// for the next slab, while others already allocate. The search order is: roomy slabs of the size, sparse slabs of the
// kind, free slabs, then busy slabs of the size that are at most half way between busy and full.
#pragma once

#include "allocators/halloc/counted_slabs.hpp"

namespace allocbench::halloc {

// SizeHead is the state of a size. As in the public code, the counters do not start at zero.
struct SizeHead {
  static constexpr std::uint32_t first_counter = 0x0b0b0b0bu;

  std::uint32_t counter;
  std::uint32_t head;       // a slab or no_slab
  std::uint32_t next_head;  // slab found in advance, protected by the lock
  std::uint32_t lock;
};

struct LockedHeads {
  CountedSlabs slabs;
  SizeHead* sizes = nullptr;
  bool cache_next_head = true;

  // Replaces the head `seen`. The caller found no room in this head, or has made it busy. If another thread holds the
  // lock, this function waits for that thread instead. Returns the head that the size has afterwards, or no_slab if the
  // search found no slab. The result is `seen` if the head has room again, or if the other thread has not replaced it.
  template <class Thread>
  SIMT_FN std::uint32_t replacement(Thread& thread, std::uint32_t id, std::uint32_t seen) const {
    SizeHead& size = sizes[id];
    const auto head = thread.atomic(size.head);
    if (try_lock(thread, size.lock)) {
      const std::uint32_t result = replace_locked(thread, id);
      unlock(thread, size.lock);
      return result;
    }
    // Another thread replaces the head.
    std::uint32_t now = head.load(simt::acquire);
    while (now == seen && thread.atomic(size.lock).load(simt::acquire) != 0) {
      thread.spin_hint();
      now = head.load(simt::acquire);
    }
    return now == seen ? head.load(simt::acquire) : now;
  }

 private:
  template <class Thread>
  SIMT_FN std::uint32_t replace_locked(Thread& thread, std::uint32_t id) const {
    SizeHead& size = sizes[id];
    const std::uint32_t current = thread.atomic(size.head).load(simt::relaxed);
    if (current != no_slab && slabs.used(thread, current) < slabs.classes.thresholds(kind_of(id)).busy) return current;
    const auto next = thread.atomic(size.next_head);
    std::uint32_t found = next.load(simt::relaxed);
    if (found == no_slab) found = search(thread, id);
    if (found == no_slab) return no_slab;
    thread.atomic(size.head).store(found, simt::release);
    if (current != no_slab) slabs.detach(thread, current);
    next.store(cache_next_head ? search(thread, id) : no_slab, simt::relaxed);
    return found;
  }

  template <class Thread>
  SIMT_FN std::uint32_t search(Thread& thread, std::uint32_t id) const {
    const Thresholds limits = slabs.classes.thresholds(kind_of(id));
    const auto has_id = [&](std::uint32_t word) { return (word & 0xff) == SlabCounter::of(kind_of(id), id); };
    const auto has_kind = [&](std::uint32_t word) { return SlabCounter::kind(word) == kind_of(id); };
    const auto is_free = [](std::uint32_t word) { return SlabCounter::kind(word) == SlabCounter::no_kind; };
    std::uint32_t found = slabs.roomy_set(id).remove_any(
        thread, [&](std::uint32_t slab) { return slabs.take(thread, slab, id, limits.roomy, has_id); });
    if (found != no_slab) return found;
    found = slabs.sparse_set(kind_of(id)).remove_any(thread, [&](std::uint32_t slab) {
      return slabs.take(thread, slab, id, limits.sparse, has_kind);
    });
    if (found != no_slab) return found;
    found = slabs.free_set().remove_any(thread, [&](std::uint32_t slab) {
      // Late allocations may add and subtract, so any count is allowed.
      return slabs.take(thread, slab, id, 0xffffffffu, is_free);
    });
    if (found != no_slab) return found;
    const SlabBitmap busy = slabs.busy_set(id);
    return busy.remove_any(thread, [&](std::uint32_t slab) {
      if (slabs.take(thread, slab, id, limits.crammed, has_id)) return true;
      put_back(thread, busy, slab, id);
      return false;
    });
  }

  // Puts a slab that was too full back into its set, unless it is now free, a head, or a slab of another size.
  template <class Thread>
  SIMT_FN void put_back(Thread& thread, const SlabBitmap& busy, std::uint32_t slab, std::uint32_t id) const {
    const std::uint32_t word = thread.atomic(slabs.counters[slab]).load(simt::relaxed);
    if (!SlabCounter::head(word) && (word & 0xff) == SlabCounter::of(kind_of(id), id)) busy.add(thread, slab);
  }
};

}  // namespace allocbench::halloc
