// One slot of an index queue: empty, or an index.
//
// Who puts and who takes at a slot is decided by the numbers that the queue's ends give out (heap.hpp). A put
// waits until the slot is empty, a take until it is not; each wait is for a thread that has its number already and does
// not wait for this one. The put releases and the take acquires what the index stands for, user data included.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::ouroboros {

inline constexpr std::uint32_t empty_slot = 0xffffffffu;
inline constexpr std::uint32_t no_chunk = 0xffffffffu;

template <class Thread>
SIMT_FN void put_into(Thread& thread, std::uint32_t& slot, std::uint32_t index) {
  std::uint32_t found = empty_slot;
  while (!thread.atomic(slot).compare_exchange(found, index, simt::release, simt::relaxed)) {
    thread.probe(simt::Step::retry);
    thread.spin_hint();
    found = empty_slot;
  }
}

// One attempt; empty_slot when there was nothing.
template <class Thread>
SIMT_FN std::uint32_t try_take_from(Thread& thread, std::uint32_t& slot) {
  thread.probe(simt::Step::attempt);
  return thread.atomic(slot).exchange(empty_slot, simt::acquire);
}

// Waits by looking: exchanges of waiting lanes would get in the way of the put.
template <class Thread>
SIMT_FN void await_index(Thread& thread, std::uint32_t& slot) {
  while (thread.atomic(slot).load(simt::relaxed) == empty_slot) {
    thread.probe(simt::Step::retry);
    thread.spin_hint();
  }
}

template <class Thread>
SIMT_FN std::uint32_t take_from(Thread& thread, std::uint32_t& slot) {
  for (;;) {
    const std::uint32_t index = try_take_from(thread, slot);
    if (index != empty_slot) return index;
    await_index(thread, slot);
  }
}

}  // namespace allocbench::ouroboros
