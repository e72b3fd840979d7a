// The bounded FIFOs of the reworked XMalloc are rings of addresses, for the first-level and second-level buffers
// (paper, section V-A) and for kept blocks (kept_blocks.hpp).
//
// A FIFO has four counters and a ring. `room` and `filled` are the numbers of pushes and pops that can still be
// admitted (units.hpp), and `tail` and `head` number the pushes and pops. The slot t mod capacity holds a turn: t means
// that the slot is free for push t, and t + 1 that it has the value of push t.
//
// push:
// 1. The push subtracts 1 from `room`. If there is no room, the push fails.
// 2. It takes its number t by an addition to `tail`, waits for turn t and writes the value.
// 3. It sets the turn to t + 1 (release) and adds 1 to `filled`.
//
// pop:
// 1. The pop subtracts 1 from `filled`. If there is no value, the pop fails.
// 2. It takes its number h by an addition to `head`, waits for turn h + 1 (acquire) and reads the value.
// 3. It sets the turn to h + capacity (release) and adds 1 to `room`.
//
// Differs from the published FIFO: In the published form, a pop compare-exchanges the head and a push the tail, so only
// one pop and one push succeed per round trip to the L2 cache. Here, one addition moves each counter. The disadvantage
// is that a pop may wait for the push with its number, and a push for the pop that empties its slot. These waits end:
// When a pop is admitted, at least as many pushes have finished as pops are admitted. So its push already has a number.
// In the same way, the pop that empties the slot of a push already has a number. Each call waits only for lower
// numbers. ABA is impossible, because nothing is compare-exchanged and a slot waits for the thread that has its turn.
#pragma once

#include "allocators/support/common/tickets.hpp"
#include "allocators/support/common/units.hpp"
#include "simt/simt.hpp"

namespace allocbench::xmalloc {

struct FifoCounters {
  alignas(32) std::uint32_t room;
  alignas(32) std::uint32_t filled;
  alignas(32) std::uint32_t head;
  alignas(32) std::uint32_t tail;
};

struct alignas(16) FifoSlot {
  std::uint64_t value;  // belongs to the thread that has the turn
  std::uint32_t turn;
};

struct Fifo {
  FifoCounters* counters;
  FifoSlot* slots;
  std::uint32_t capacity;  // a power of two

  // Empties the whole ring. Each of `count` threads calls this function with its own rank.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t rank, std::uint32_t count) const {
    for (std::uint32_t i = rank; i < capacity; i += count) thread.atomic(slots[i].turn).store(i, simt::relaxed);
    if (rank != 0) return;
    thread.atomic(counters->room).store(capacity, simt::relaxed);
    thread.atomic(counters->filled).store(0, simt::relaxed);
    thread.atomic(counters->head).store(0, simt::relaxed);
    thread.atomic(counters->tail).store(0, simt::relaxed);
  }

  // Adds a value. Returns false if the ring is full.
  template <class Thread>
  SIMT_FN bool push(Thread& thread, std::uint64_t value) const {
    if (take_units_if_any(thread, counters->room, 1) == 0) return false;
    put(thread, thread.atomic(counters->tail).fetch_add(1u, simt::relaxed), value);
    thread.atomic(counters->filled).fetch_add(1u, simt::relaxed);
    return true;
  }

  // These functions push and pop for lanes that come together. One addition to each counter serves all of them. All
  // lanes of the group must call them. If not all can be admitted, the lanes with the lowest ranks are. Only admitted
  // lanes get true.
  template <class Thread, class Group>
  SIMT_FN bool push_together(Thread& thread, const Group& group, std::uint64_t value) const {
    const TicketRange tickets = take_tickets(thread, group, counters->room, counters->tail);
    const bool pushes = tickets.has_one(group);
    if (pushes) put(thread, tickets.own(group), value);
    group.sync();  // a pop is admitted when its push has ended
    if (group.leader() && tickets.count != 0) thread.atomic(counters->filled).fetch_add(tickets.count, simt::relaxed);
    return pushes;
  }
  template <class Thread, class Group>
  SIMT_FN bool pop_together(Thread& thread, const Group& group, std::uint64_t& value) const {
    const TicketRange tickets = take_tickets(thread, group, counters->filled, counters->head);
    const bool pops = tickets.has_one(group);
    if (pops) value = get(thread, tickets.own(group));
    group.sync();  // a push is admitted when the pop that makes room for it has ended
    if (group.leader() && tickets.count != 0) thread.atomic(counters->room).fetch_add(tickets.count, simt::relaxed);
    return pops;
  }

  // Adds a value, and waits while the ring is full. The caller must know that a running pop will make room.
  template <class Thread>
  SIMT_FN void push_surely(Thread& thread, std::uint64_t value) const {
    while (!push(thread, value)) thread.spin_hint();
  }

  // Pushes up to `count` values, value_of(0), value_of(1), ... Returns how many of them found room.
  template <class Thread, class ValueOf>
  SIMT_FN std::uint32_t push_some(Thread& thread, std::uint32_t count, ValueOf value_of) const {
    const std::uint32_t admitted = count == 0 ? 0 : take_units_if_any(thread, counters->room, count);
    if (admitted == 0) return 0;
    const std::uint32_t first = thread.atomic(counters->tail).fetch_add(admitted, simt::relaxed);
    for (std::uint32_t i = 0; i < admitted; ++i) put(thread, first + i, value_of(i));
    thread.atomic(counters->filled).fetch_add(admitted, simt::relaxed);
    return admitted;
  }

  // Takes the oldest value. Returns false if the ring is empty.
  template <class Thread>
  SIMT_FN bool pop(Thread& thread, std::uint64_t& value) const {
    if (take_units_if_any(thread, counters->filled, 1) == 0) return false;
    value = get(thread, thread.atomic(counters->head).fetch_add(1u, simt::relaxed));
    thread.atomic(counters->room).fetch_add(1u, simt::relaxed);
    return true;
  }

  // Returns whether there is a value for which no pop has a number yet. The push of this value may still be running.
  template <class Thread>
  SIMT_FN bool holds_any(Thread& thread) const {
    return thread.atomic(counters->tail).load(simt::relaxed) != thread.atomic(counters->head).load(simt::relaxed);
  }

  // Returns the number of values. The result may already be outdated.
  template <class Thread>
  SIMT_FN std::uint32_t size_hint(Thread& thread) const {
    const std::uint32_t filled = thread.atomic(counters->filled).load(simt::relaxed);
    return static_cast<std::int32_t>(filled) < 0 ? 0 : filled;
  }

 private:
  template <class Thread>
  SIMT_FN void put(Thread& thread, std::uint32_t number, std::uint64_t value) const {
    FifoSlot& slot = slots[number & (capacity - 1)];
    const auto turn = thread.atomic(slot.turn);
    while (turn.load(simt::acquire) != number) thread.spin_hint();
    slot.value = value;
    turn.store(number + 1, simt::release);
  }
  template <class Thread>
  SIMT_FN std::uint64_t get(Thread& thread, std::uint32_t number) const {
    FifoSlot& slot = slots[number & (capacity - 1)];
    const auto turn = thread.atomic(slot.turn);
    while (turn.load(simt::acquire) != number + 1) thread.spin_hint();
    const std::uint64_t value = slot.value;
    turn.store(number + capacity, simt::release);
    return value;
  }
};

}  // namespace allocbench::xmalloc
