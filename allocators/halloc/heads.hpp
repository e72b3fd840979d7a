// Which slab each size allocates from, and how that head is replaced.
//
// Adinetz & Pleiter 2014, "Head Replacement Tricks". One thread at a time replaces the head of a size, under the size's
// lock: it takes the slab that was found in advance, publishes it, sorts the old head into the sets, and looks for the
// next slab in advance while others already allocate. Search order: roomy slabs of the size, sparse slabs of the kind,
// free slabs, then busy slabs of the size that are not too full.
//
// Lock: `lock` is odd while it is held. A thread that saw a whole failed search, begun after it came, gives up without
// a search of its own. Nobody waits for a second lock while holding one: other sizes' locks are only tried, so that
// every wait ends with a search of bounded length.
#pragma once

#include "allocators/halloc/slab.hpp"

namespace allocbench::halloc {

// Per size; three lines, because all allocations add to the first, read the second, and write the third rarely.
struct alignas(128) SizeState {
  std::uint32_t counter;
  std::uint32_t padding_[31];
  std::uint64_t head;
  std::uint64_t padding2_[15];
  std::uint64_t next_head;  // found in advance; under the lock
  std::uint32_t lock;
  std::uint32_t failed_search;  // value of `lock` during the last search that found nothing
};

// The counters start away from zero, as in the public code.
inline constexpr std::uint32_t first_counter = 0x0b0b0b0bu;

struct Heads {
  Slabs slabs;
  SizeState* sizes = nullptr;
  bool cache_next_head = true;

  // A head other than `seen`, which has no room left; Head::none when there is none. One lane per warp and size calls.
  template <class Thread>
  SIMT_FN std::uint64_t replacement(Thread& thread, std::uint32_t id, std::uint64_t seen) const {
    SizeState& size = sizes[id];
    const auto lock = thread.atomic(size.lock);
    const std::uint32_t on_arrival = lock.load(simt::acquire);
    for (;;) {
      const std::uint64_t head = thread.atomic(size.head).load(simt::acquire);
      if (head != seen && Head::exists(head)) return head;
      const std::uint32_t failed = thread.atomic(size.failed_search).load(simt::acquire);
      if (static_cast<std::int32_t>(failed - on_arrival) > 0) return Head::none;
      std::uint32_t now = lock.load(simt::relaxed);
      if (now % 2 == 0 && lock.compare_exchange(now, now + 1, simt::acquire, simt::relaxed)) {
        return replace_locked(thread, id, seen, now + 1);
      }
      thread.spin_hint();
    }
  }

  // The early replacement: `seen` has just become busy. Does nothing when somebody is at it.
  template <class Thread>
  SIMT_FN void replace_early(Thread& thread, std::uint32_t id, std::uint64_t seen) const {
    const auto lock = thread.atomic(sizes[id].lock);
    std::uint32_t now = lock.load(simt::relaxed);
    if (now % 2 == 0 && lock.compare_exchange(now, now + 1, simt::acquire, simt::relaxed)) {
      static_cast<void>(replace_locked(thread, id, seen, now + 1));
    }
  }

 private:
  template <class Thread>
  SIMT_FN std::uint64_t replace_locked(Thread& thread, std::uint32_t id, std::uint64_t seen,
                                       std::uint32_t lock_value) const {
    SizeState& size = sizes[id];
    const auto head = thread.atomic(size.head);
    const std::uint64_t current = head.load(simt::acquire);
    std::uint64_t result = current;
    if (current == seen || !Head::exists(current)) {
      result = next_head(thread, id);
      if (Head::exists(result)) {
        head.store(result, simt::release);
        if (Head::exists(current)) slabs.detach(thread, Head::slab(current));
        if (cache_next_head) thread.atomic(size.next_head).store(search_idle(thread, id), simt::relaxed);
      } else {
        thread.atomic(size.failed_search).store(lock_value, simt::release);
      }
    }
    thread.atomic(size.lock).store(lock_value + 1, simt::release);
    return result;
  }

  template <class Thread>
  SIMT_FN std::uint64_t next_head(Thread& thread, std::uint32_t id) const {
    const auto next = thread.atomic(sizes[id].next_head);
    const std::uint64_t cached = next.load(simt::relaxed);
    if (Head::exists(cached)) {
      next.store(Head::none, simt::relaxed);
      return cached;
    }
    std::uint64_t head = search_idle(thread, id);
    if (!Head::exists(head)) head = search_busy(thread, id);
    if (!Head::exists(head) && release_idle_heads(thread, id)) head = search_idle(thread, id);
    return head;
  }

  // Slabs worth being a head.
  template <class Thread>
  SIMT_FN std::uint64_t search_idle(Thread& thread, std::uint32_t id) const {
    const Thresholds limits = slabs.classes.thresholds(kind_of(id));
    std::uint64_t head = slabs.roomy_set(id).find(
        thread, Head::none, [&](std::uint32_t slab) { return slabs.take_used(thread, slab, id, limits.roomy); });
    if (Head::exists(head)) return head;
    head = slabs.sparse_set(kind_of(id)).find(thread, Head::none, [&](std::uint32_t slab) {
      return slabs.take_used(thread, slab, id, limits.sparse);
    });
    if (Head::exists(head)) return head;
    return slabs.free_set().find(thread, Head::none,
                                 [&](std::uint32_t slab) { return slabs.take_free(thread, slab, id); });
  }

  // The last resort: slabs that will be busy again soon. Up to half way between busy and full.
  template <class Thread>
  SIMT_FN std::uint64_t search_busy(Thread& thread, std::uint32_t id) const {
    const std::uint32_t limit =
        (slabs.classes.thresholds(kind_of(id)).busy + slabs.classes.chunks(kind_of(id)).divisor()) / 2;
    return slabs.busy_set(id).find(thread, Head::none,
                                   [&](std::uint32_t slab) { return slabs.take_used(thread, slab, id, limit); });
  }

  // Gives up the slabs that other sizes found in advance and their heads without any block, as long as no size is busy
  // replacing. True if there were any.
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
