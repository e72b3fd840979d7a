// A slot of a queue of indices is empty or holds an index.
//
// Counters at the ends of the queue give numbers to puts and takes, and these numbers assign slots to threads. A put
// waits until its slot is empty, and a take waits until its slot is full. Each wait is for a thread that already has
// its number and does not wait for the waiting thread. A put releases and a take acquires, so the taker sees what was
// written before to the memory that the index stands for. A compare-exchange from empty fills a slot, and an exchange
// empties it. So every index has one owner, whether the put or the take of a slot comes first. There is no ABA.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

inline constexpr std::uint32_t empty_slot = 0xffffffffu;

template <class Thread>
SIMT_FN void put_into(Thread& thread, std::uint32_t& slot, std::uint32_t index) {
  std::uint32_t found = empty_slot;
  while (!thread.atomic(slot).compare_exchange(found, index, simt::release, simt::relaxed)) {
    thread.probe(simt::Step::retry);
    thread.spin_hint();
    found = empty_slot;
  }
}

// Tries once to take the index. Returns empty_slot if the slot was empty.
template <class Thread>
SIMT_FN std::uint32_t try_take_from(Thread& thread, std::uint32_t& slot) {
  thread.probe(simt::Step::attempt);
  return thread.atomic(slot).exchange(empty_slot, simt::acquire);
}

// Waits with loads, because exchanges of waiting lanes would delay the put.
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

}  // namespace allocbench
