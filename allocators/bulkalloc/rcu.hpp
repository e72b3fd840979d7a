// Rcu is read-copy-update with delegation: an unlinked item is linked again or freed only after all readers that may
// have seen it in the list have left.
//
// Paper: Gelado & Garland, PPoPP 2019 (delegation of deferred work; sleepable RCU with an epoch and two counters).
//
// Idea: A thread that has unlinked an item puts it into a queue. If another thread already waits to begin the next
// epoch, this other thread will do the work. Otherwise the first thread waits for the mutex and takes the queue. If the
// queue is not empty, the thread begins a new epoch, waits for the readers of the previous one, and does the queued
// work.
//
// Differs from the paper: A reader enters with one addition to a word that also contains the epoch, so no reader counts
// itself into an ended epoch. Another word counts the readers that leave. The wait for the readers of an ended epoch is
// over when both counts are equal. Readers never wait, so every wait here ends.
#pragma once

#include "allocators/support/common/lock.hpp"
#include "simt/simt.hpp"

namespace allocbench::bulkalloc {

struct Rcu {
  static constexpr std::uint64_t odd = std::uint64_t{1} << 63;

  // All bytes are zero at first.
  std::uint64_t readers;  // number of readers that entered in this epoch; bit 63 is set in an odd epoch
  std::uint64_t left[2];  // numbers of readers of even and of odd epochs that have left
  std::uint32_t mutex;
  std::uint32_t waiting;  // 1 while a thread waits to begin the next epoch
  std::uint32_t queue;    // last queued item, or 0 if there is none

  // Enters as a reader. Returns the argument for leave().
  template <class Thread>
  SIMT_FN std::uint32_t enter(Thread& thread) {
    return static_cast<std::uint32_t>(thread.atomic(readers).fetch_add(std::uint64_t{1}, simt::acquire) >> 63);
  }
  template <class Thread>
  SIMT_FN void leave(Thread& thread, std::uint32_t epoch) {
    thread.atomic(left[epoch]).fetch_add(std::uint64_t{1}, simt::release);
  }

  // Queues an item, a number above 0, and does the queued work unless another thread will. `link(item)` is the word
  // that holds the next item of the queue, and `finish(item)` does the work.
  template <class Thread, class Link, class Finish>
  SIMT_FN void call(Thread& thread, std::uint32_t item, const Link& link, const Finish& finish) {
    const auto last = thread.atomic(queue);
    std::uint32_t seen = last.load(simt::relaxed);
    do {
      thread.atomic(link(item)).store(seen, simt::relaxed);
    } while (!last.compare_exchange(seen, item, simt::acq_rel, simt::relaxed));
    // If `waiting` is set, another thread waits for the mutex. That thread clears `waiting` before it takes the queue,
    // so it also takes this item.
    if (thread.atomic(waiting).exchange(1u, simt::acq_rel) != 0) return;
    while (!try_lock(thread, mutex)) thread.spin_hint();
    thread.atomic(waiting).exchange(0u, simt::acq_rel);
    std::uint32_t next = last.exchange(0u, simt::acq_rel);
    if (next != 0) await_readers(thread);
    unlock(thread, mutex);
    while (next != 0) {
      const std::uint32_t each = next;
      next = thread.atomic(link(each)).load(simt::relaxed);
      finish(each);
    }
  }

 private:
  // Begins an epoch and waits for the readers of the previous one.
  template <class Thread>
  SIMT_FN void await_readers(Thread& thread) {
    const auto word = thread.atomic(readers);
    const std::uint64_t entered = word.exchange(~word.load(simt::relaxed) & odd, simt::acq_rel);
    const auto gone = thread.atomic(left[entered >> 63]);
    while (gone.load(simt::acquire) != (entered & ~odd)) thread.spin_hint();
    gone.store(0, simt::relaxed);
  }
};

}  // namespace allocbench::bulkalloc
