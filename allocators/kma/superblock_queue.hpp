// The queue of unused superblocks is Michael & Scott's lock-free queue over indices (PODC 1996; KMA paper, section
// 4.2).
//
// Shared words: head, tail and one link per superblock, each {count 32 | superblock 32}. The count of a word grows with
// every write, which prevents ABA. Links lie outside the superblocks and survive their reuse. The first superblock in
// the queue is the dummy. A pop returns the dummy, and its successor becomes the dummy, so one superblock always stays
// in the queue. A push releases the superblock by its exchange of the link. The pop that reads the link exchanges the
// head, and the next pop, which returns the superblock, acquires the head.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::kma {

class SuperblockQueue {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  struct Ends {
    alignas(128) std::uint64_t head;
    alignas(128) std::uint64_t tail;
  };

  SuperblockQueue() = default;
  SuperblockQueue(Ends* ends, std::uint64_t* links) : ends_(ends), links_(links) {}

  // Enqueues all `count` superblocks one after the other, by one thread, as published. The first becomes the dummy.
  template <class Thread>
  SIMT_FN void enqueue_all(Thread& thread, std::uint32_t count) const {
    thread.atomic(links_[0]).store(none, simt::relaxed);
    thread.atomic(ends_->head).store(0, simt::relaxed);
    thread.atomic(ends_->tail).store(0, simt::relaxed);
    for (std::uint32_t i = 1; i < count; ++i) {
      thread.atomic(links_[i]).store(none, simt::relaxed);
      push(thread, i);
    }
  }

  // Makes the same queue as enqueue_all(), but writes the links directly. Every thread of a grid calls this function.
  template <class Thread>
  SIMT_FN void fill(Thread& thread, std::uint32_t count) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      thread.atomic(links_[i]).store(i + 1 == count ? none : i + 1, simt::relaxed);
    }
    if (thread.rank_in_grid() == 0) {
      thread.atomic(ends_->head).store(0, simt::relaxed);
      thread.atomic(ends_->tail).store(count - 1, simt::relaxed);
    }
  }

  template <class Thread>
  SIMT_FN void push(Thread& thread, std::uint32_t superblock) const {
    const auto own_link = thread.atomic(links_[superblock]);
    own_link.store(successor(own_link.load(simt::relaxed), none), simt::relaxed);
    const auto tail = thread.atomic(ends_->tail);
    for (;;) {
      std::uint64_t last = tail.load(simt::acquire);
      const auto link = thread.atomic(links_[index(last)]);
      std::uint64_t next = link.load(simt::acquire);
      if (index(next) != none) {  // the tail lags: help
        tail.compare_exchange(last, successor(last, index(next)), simt::acq_rel, simt::relaxed);
        continue;
      }
      if (tail.load(simt::relaxed) != last) continue;  // the superblock may have been reused, and its link with it
      if (link.compare_exchange(next, successor(next, superblock), simt::release, simt::relaxed)) {
        tail.compare_exchange(last, successor(last, superblock), simt::release, simt::relaxed);
        return;
      }
      thread.probe(simt::Step::retry);
    }
  }

  // Returns a superblock, or `none` if only the dummy is left.
  template <class Thread>
  SIMT_FN std::uint32_t pop(Thread& thread) const {
    const auto head = thread.atomic(ends_->head);
    const auto tail = thread.atomic(ends_->tail);
    std::uint64_t first = head.load(simt::acquire);
    for (;;) {
      // The tail is not before `first`: the thread that moved the head to `first` had seen the tail at or behind it.
      // If `first` is outdated and the same superblock is the tail again, this load of the tail acquires the
      // superblock's new link and the new head.
      std::uint64_t last = tail.load(simt::acquire);
      const std::uint64_t next = thread.atomic(links_[index(first)]).load(simt::acquire);
      if (index(next) != none && index(first) != index(last)) {
        const std::uint32_t superblock = index(first);
        if (head.compare_exchange(first, successor(first, index(next)), simt::acq_rel, simt::acquire)) {
          return superblock;
        }
        thread.probe(simt::Step::retry);
        continue;
      }
      const std::uint64_t now = head.load(simt::acquire);
      if (now != first) {
        first = now;
      } else if (index(next) == none) {
        return none;
      } else {  // the tail lags: help
        tail.compare_exchange(last, successor(last, index(next)), simt::acq_rel, simt::relaxed);
      }
    }
  }

  // Returns whether the queue seems to be empty. The result may be outdated.
  template <class Thread>
  SIMT_FN bool looks_empty(Thread& thread) const {
    const std::uint64_t first = thread.atomic(ends_->head).load(simt::acquire);
    if (index(thread.atomic(links_[index(first)]).load(simt::acquire)) != none) return false;
    return thread.atomic(ends_->head).load(simt::relaxed) == first;  // otherwise the link belongs to a later use
  }

  const Ends* ends() const { return ends_; }
  const std::uint64_t* links() const { return links_; }
  static SIMT_HOST_FN std::uint32_t index(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

 private:
  static SIMT_HOST_FN std::uint64_t successor(std::uint64_t word, std::uint32_t index) {
    return ((word >> 32) + 1) << 32 | index;
  }

  Ends* ends_ = nullptr;
  std::uint64_t* links_ = nullptr;
};

}  // namespace allocbench::kma
