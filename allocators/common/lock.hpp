// The locks of the allocators: a word that threads exchange, and tickets for warps that queue up.
//
// Every holder does bounded work and waits for nobody, so every wait ends.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// A lock word: 1 = held. Exchange acquires, store releases.
template <class Thread>
SIMT_FN bool try_lock(Thread& thread, std::uint32_t& word) {
  return thread.atomic(word).exchange(1u, simt::acquire) == 0;
}
template <class Thread>
SIMT_FN void unlock(Thread& thread, std::uint32_t& word) {
  thread.atomic(word).store(0u, simt::release);
}
// Waits until the lock was free once, and sees what its last holder did.
template <class Thread>
SIMT_FN void await_unlocked(Thread& thread, std::uint32_t& word) {
  while (thread.atomic(word).load(simt::acquire) != 0) thread.spin_hint();
}

// One lane takes the lock for all lanes of its group that come together. Groups get it in the order in which they came.
// Tickets: a contended exchange lock took 27 us and more per hand-over on a full H100. Groups far behind look less
// often.
struct TicketLock {
  // Zero when nobody has or wants the lock.
  alignas(128) std::uint32_t next_ticket;
  alignas(128) std::uint32_t serving;  // the ticket whose owner has the lock

  // For all lanes of the group; the result is valid on the leader. `order` is that of the ticket draw: release where a
  // holder must see, by tickets_drawn(), what a group did before it came.
  template <class Thread, class Group, class Order>
  SIMT_FN std::uint32_t lock(Thread& thread, const Group& group, Order order) {
    constexpr std::uint32_t longest_pause = 256;
    std::uint32_t ticket = 0;
    if (group.leader()) {
      ticket = thread.atomic(next_ticket).fetch_add(1u, order);
      for (std::uint32_t now = thread.atomic(serving).load(simt::acquire); now != ticket;
           now = thread.atomic(serving).load(simt::acquire)) {
        const std::uint32_t ahead = ticket - now;
        const std::uint32_t pause = ahead < longest_pause ? ahead : longest_pause;
        for (std::uint32_t i = 0; i < pause; ++i) thread.spin_hint();
      }
    }
    group.sync();  // the leader's acquire holds for all
    return ticket;
  }

  // Tickets drawn so far. An addition of nothing instead of a load: a load may show an old value, and then the holder
  // could miss what the owner of a newer ticket did before it drew (CONTRIBUTING.md, "Mark and look").
  template <class Thread>
  SIMT_FN std::uint32_t tickets_drawn(Thread& thread) {
    return thread.atomic(next_ticket).fetch_add(0u, simt::acquire);
  }

  template <class Thread, class Group>
  SIMT_FN void unlock(Thread& thread, const Group& group) {
    group.sync();  // the leader's release speaks for all
    if (group.leader()) thread.atomic(serving).fetch_add(1u, simt::release);
  }
};

}  // namespace allocbench
