// A head is the slab from which a size allocates. Heads finds and replaces the head of each size.
//
// Adinetz & Pleiter 2014, "Head Replacement Tricks". One thread at a time replaces the head of a size, under the lock
// of the size. It publishes the slab that was found in advance. While other threads already allocate, it searches for
// the next slab and files the old head in a set. The search order is: roomy slabs of the size, sparse slabs of the
// kind, free slabs, then busy slabs of the size that are not too full. If there is none, a search releases idle heads
// of other sizes and looks for roomy, sparse and free slabs again. With `spares_busy`, busy slabs come last.
//
// The time from lock to unlock limits the rate at which large blocks are allocated, because only 36 full warps make a
// slab of 3 KiB blocks busy. So loads are issued together, and the old head is detached after the unlock. The thread
// that makes a head busy polls the lock. Other threads poll the head, and look at the lock at every eighth check.
//
// Lock: `lock` is odd while the lock is held. If a search that began after a thread's arrival fails, the thread gives
// up without searching. The thread reads the value of `lock` at its arrival by an atomic addition. With a load, a later
// searcher might miss what this thread freed (CONTRIBUTING.md, "Mark and look"). A thread that holds a lock only tries
// to take locks of other sizes, so every wait ends after a search of bounded length.
#pragma once

#include "allocators/halloc/slab.hpp"

namespace allocbench::halloc {

// SizeState takes three cache lines per size. All allocations add to the first and read the second, but few use the
// third.
struct alignas(128) SizeState {
  std::uint32_t counter;
  std::uint32_t padding_[31];
  std::uint64_t head;
  std::uint64_t padding2_[15];
  std::uint64_t next_head;  // slab found in advance, protected by the lock
  std::uint32_t lock;
  std::uint32_t failed_search;  // value of `lock` during the last search that found nothing
};

// As in the public code, the counters do not start at zero.
inline constexpr std::uint32_t first_counter = 0x0b0b0b0bu;

struct Heads {
  Slabs slabs;
  SizeState* sizes = nullptr;
  bool cache_next_head = true;

  // Returns a head other than `seen`, which is busy, full or none. Returns Head::none if it finds no other head. One
  // lane per warp and size calls replacement(). With `spares_busy`, idle slabs of other sizes come before busy slabs.
  template <class Thread>
  SIMT_FN std::uint64_t replacement(Thread& thread, std::uint32_t id, std::uint64_t seen, bool spares_busy) const {
    SizeState& size = sizes[id];
    const auto lock = thread.atomic(size.lock);
    const std::uint32_t on_arrival = lock.fetch_add(0u, simt::acq_rel);
    // If there is a head, the thread that made it busy will replace it soon.
    for (std::uint32_t looks = Head::exists(seen) ? 1 : 0;; ++looks) {
      const std::uint64_t head = thread.atomic(size.head).load(simt::acquire);
      if (head != seen && Head::exists(head)) return head;
      if (looks % 8 == 0) {
        const std::uint32_t failed = thread.atomic(size.failed_search).load(simt::acquire);
        if (static_cast<std::int32_t>(failed - on_arrival) > 0) return Head::none;
        std::uint32_t now = lock.load(simt::relaxed);
        if (now % 2 == 0 && lock.compare_exchange(now, now + 1, simt::acquire, simt::relaxed)) {
          return replace_locked(thread, id, seen, now + 1, spares_busy);
        }
      }
      thread.spin_hint();
    }
  }

  // Replaces the head `seen`, which the caller has just made busy. Leaves this to other threads if the lock stays held.
  template <class Thread>
  SIMT_FN void replace_early(Thread& thread, std::uint32_t id, std::uint64_t seen) const {
    constexpr std::uint32_t most_looks = 64;
    const auto lock = thread.atomic(sizes[id].lock);
    for (std::uint32_t looks = 0; looks < most_looks; ++looks) {
      std::uint32_t now = lock.load(simt::relaxed);
      if (thread.atomic(sizes[id].head).load(simt::relaxed) != seen) return;
      if (now % 2 == 0 && lock.compare_exchange(now, now + 1, simt::acquire, simt::relaxed)) {
        static_cast<void>(replace_locked(thread, id, seen, now + 1, false));
        return;
      }
      thread.spin_hint();
    }
  }

 private:
  template <class Thread>
  SIMT_FN std::uint64_t replace_locked(Thread& thread, std::uint32_t id, std::uint64_t seen, std::uint32_t lock_value,
                                       bool spares_busy) const {
    SizeState& size = sizes[id];
    const auto head = thread.atomic(size.head);
    const auto next = thread.atomic(size.next_head);
    std::uint64_t result = next.load(simt::relaxed);
    const std::uint64_t current = head.load(simt::acquire);
    std::uint32_t detached = no_slab;
    if (current != seen && Head::exists(current)) {
      result = current;
    } else {
      if (!Head::exists(result)) result = search(thread, id, spares_busy);
      if (Head::exists(result)) {
        head.store(result, simt::release);
        detached = Head::slab(current);
        const std::uint64_t found = cache_next_head ? search_idle(thread, id) : Head::none;
        next.store(found, simt::relaxed);
        // If no slab is left, the next search under the lock must find the old head.
        if (!Head::exists(found)) {
          detach(thread, detached);
          detached = no_slab;
        }
      } else {
        thread.atomic(size.failed_search).store(lock_value, simt::release);
      }
    }
    thread.atomic(size.lock).store(lock_value + 1, simt::release);
    detach(thread, detached);
    return result;
  }

  template <class Thread>
  SIMT_FN void detach(Thread& thread, std::uint32_t slab) const {
    if (slab != no_slab) slabs.detach(thread, slab);
  }

  template <class Thread>
  SIMT_FN std::uint64_t search(Thread& thread, std::uint32_t id, bool spares_busy) const {
    std::uint64_t head = search_idle(thread, id);
    if (!Head::exists(head) && !spares_busy) head = search_busy(thread, id);
    if (!Head::exists(head) && release_idle_heads(thread, id)) head = search_idle(thread, id);
    if (!Head::exists(head) && spares_busy) head = search_busy(thread, id);
    return head;
  }

  // Turns a slab with enough room into a head. Returns Head::none if there is no such slab.
  template <class Thread>
  SIMT_FN std::uint64_t search_idle(Thread& thread, std::uint32_t id) const {
    const Thresholds limits = slabs.classes.thresholds(kind_of(id));
    const SlabSet roomy = slabs.roomy_set(id);
    const SlabSet sparse = slabs.sparse_set(kind_of(id));
    const SlabSet free = slabs.free_set();
    const SlabSet::Summary in_roomy = roomy.summary(thread);
    const SlabSet::Summary in_sparse = sparse.summary(thread);
    const SlabSet::Summary in_free = free.summary(thread);
    std::uint64_t head = take_first(thread, roomy, in_roomy, [&](std::uint32_t slab, std::uint64_t seen) {
      return slabs.take_used(thread, slab, id, limits.roomy, seen);
    });
    if (Head::exists(head)) return head;
    head = take_first(thread, sparse, in_sparse, [&](std::uint32_t slab, std::uint64_t seen) {
      return slabs.take_used(thread, slab, id, limits.sparse, seen);
    });
    if (Head::exists(head)) return head;
    return take_first(thread, free, in_free,
                      [&](std::uint32_t slab, std::uint64_t seen) { return slabs.take_free(thread, slab, id, seen); });
  }

  // Turns one of the busy slabs of the size into a head, if the slab is not filled beyond `crammed`. Returns Head::none
  // if there is no such slab.
  template <class Thread>
  SIMT_FN std::uint64_t search_busy(Thread& thread, std::uint32_t id) const {
    const std::uint32_t limit = slabs.classes.thresholds(kind_of(id)).crammed;
    const SlabSet busy = slabs.busy_set(id);
    return take_first(thread, busy, busy.summary(thread), [&](std::uint32_t slab, std::uint64_t seen) {
      return slabs.take_used(thread, slab, id, limit, seen);
    });
  }

  template <class Thread, class Take>
  SIMT_FN std::uint64_t take_first(Thread& thread, const SlabSet& set, SlabSet::Summary summary, Take take) const {
    const auto look = [&](std::uint32_t slab) { return thread.atomic(slabs.states[slab]).load(simt::relaxed); };
    return set.find(thread, summary, Head::none, look, take);
  }

  // Releases the slabs that other sizes found in advance, and their heads without blocks. Skips sizes whose lock is
  // held. Returns whether it released a slab.
  template <class Thread>
  SIMT_FN bool release_idle_heads(Thread& thread, std::uint32_t id) const {
    bool released = false;
    for (std::uint32_t other = 0; other < size_count; ++other) {
      if (other == id) continue;
      SizeState& size = sizes[other];
      const auto lock = thread.atomic(size.lock);
      std::uint32_t now = lock.load(simt::relaxed);
      if (now % 2 != 0 || !lock.compare_exchange(now, now + 1, simt::acquire, simt::relaxed)) continue;
      const std::uint64_t next = thread.atomic(size.next_head).load(simt::relaxed);
      if (Head::exists(next)) {
        thread.atomic(size.next_head).store(Head::none, simt::relaxed);
        slabs.detach(thread, Head::slab(next));
        released = true;
      }
      const std::uint64_t head = thread.atomic(size.head).load(simt::relaxed);
      if (Head::exists(head) &&
          SlabState::count(thread.atomic(slabs.states[Head::slab(head)]).load(simt::relaxed)) == 0) {
        thread.atomic(size.head).store(Head::none, simt::release);
        slabs.detach(thread, Head::slab(head));
        released = true;
      }
      lock.store(now + 2, simt::release);
    }
    return released;
  }
};

}  // namespace allocbench::halloc
