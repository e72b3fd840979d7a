// The bounded FIFOs of XMalloc as published are rings of addresses, whose ends move by compare-exchanges (paper,
// sections III and V-A; details follow the public code).
//
// The tail is one word with the newest value and its position. The next push writes this value into the value's slot.
// Each slot also holds the position of its value.
//
// push:
// 1. The push reads head and tail. If the ring is full, the push fails.
// 2. If the tail's slot still has the position of the lap before, a compare-exchange copies the tail into the slot.
// 3. It compare-exchanges the tail to the new value and the next position. If this fails, it begins again.
//
// pop:
// 1. The pop reads head and tail. If the ring is empty, the pop fails.
// 2. It reads the value from the tail if there is only one value, otherwise from the slot of the head.
// 3. It compare-exchanges the head to the next position. If this fails, it begins again.
//
// If several threads compare-exchange at the same time, one succeeds. A thread may lose repeatedly, but only while
// others make progress. Values are addresses in 32 bits (block_buffers.hpp). The head and positions have 32 bits too,
// so ABA is possible only if a thread stalls for 2^32 operations.
//
// Differs from the public code: Each attempt of a push or pop acquires and releases, so each attempt has a fence. The
// public code has fences around each operation. Calls take longer than in the public code, perhaps because of the
// additional fences; no measurement shows the reason (results/reference/h200/originals.md).
#pragma once

#include "simt/simt.hpp"

namespace allocbench::xmalloc {

struct ExchangeFifo {
  // All bytes are zero until initialise() sets them.
  struct Ends {
    std::uint64_t tail;  // position in the upper half, value in the lower half
    std::uint32_t head;  // position of the oldest value
  };

  Ends* ends;
  std::uint64_t* slots;    // position in the upper half, value in the lower half
  std::uint32_t capacity;  // a power of two

  static SIMT_HOST_FN std::uint64_t record(std::uint32_t position, std::uint32_t value) {
    return std::uint64_t{position} << 32 | value;
  }
  static SIMT_HOST_FN std::uint32_t position_of(std::uint64_t record) {
    return static_cast<std::uint32_t>(record >> 32);
  }
  static SIMT_HOST_FN std::uint32_t value_of(std::uint64_t record) { return static_cast<std::uint32_t>(record); }

  // Empties the whole ring. Each of `count` threads calls this function with its own rank.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t rank, std::uint32_t count) const {
    for (std::uint32_t i = rank; i < capacity; i += count) {
      thread.atomic(slots[i]).store(record(i - capacity, 0), simt::relaxed);
    }
    if (rank != 0) return;
    thread.atomic(ends->head).store(0, simt::relaxed);
    thread.atomic(ends->tail).store(record(~0u, 0), simt::relaxed);
  }

  // Adds a value. Returns false if the ring is full.
  template <class Thread>
  SIMT_FN bool push(Thread& thread, std::uint32_t value) const {
    for (;;) {
      const std::uint32_t head = thread.atomic(ends->head).load(simt::relaxed);
      std::uint64_t tail = thread.atomic(ends->tail).load(simt::acquire);
      const std::uint32_t position = position_of(tail);
      const std::uint32_t size = position - head + 1;
      if (static_cast<std::int32_t>(size) >= static_cast<std::int32_t>(capacity)) return false;
      const auto slot = thread.atomic(slots[position & (capacity - 1)]);
      std::uint64_t old = slot.load(simt::relaxed);
      if (position_of(old) + capacity == position) slot.compare_exchange(old, tail, simt::relaxed, simt::relaxed);
      if (thread.atomic(ends->tail).compare_exchange(tail, record(position + 1, value), simt::acq_rel, simt::relaxed)) {
        return true;
      }
      thread.probe(simt::Step::retry);
    }
  }

  // Takes the oldest value. Returns false if the ring is empty.
  template <class Thread>
  SIMT_FN bool pop(Thread& thread, std::uint32_t& value) const {
    for (;;) {
      std::uint32_t head = thread.atomic(ends->head).load(simt::relaxed);
      const std::uint64_t tail = thread.atomic(ends->tail).load(simt::acquire);
      if (position_of(tail) + 1 == head) return false;
      value =
          value_of(head == position_of(tail) ? tail : thread.atomic(slots[head & (capacity - 1)]).load(simt::relaxed));
      if (thread.atomic(ends->head).compare_exchange(head, head + 1, simt::acq_rel, simt::relaxed)) return true;
      thread.probe(simt::Step::retry);
    }
  }
};

}  // namespace allocbench::xmalloc
