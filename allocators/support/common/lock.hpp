// The locks of the allocators: a word that threads exchange, and tickets for warps that queue up.
//
// Every holder does bounded work and never waits, so every wait ends.
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
// Tickets, because the hand-over of a contended exchange lock is slow on a full GPU. Groups far behind look less often.
struct TicketLock {
  // Zero if no thread has or wants the lock.
  alignas(128) std::uint32_t next_ticket;
  alignas(128) std::uint32_t serving;  // the ticket whose owner has the lock

  // The ticket of the group's leader, and the ticket that was served when the leader came.
  struct Turn {
    std::uint32_t ticket;
    std::uint32_t on_arrival;
  };

  // For all lanes of the group; the result is valid on the leader. A group that is served after `on_arrival` sees what
  // this group did before it came. Therefore an addition of nothing instead of a load, which may show an old value
  // (CONTRIBUTING.md, "Mark and look").
  template <class Thread, class Group>
  SIMT_FN Turn lock(Thread& thread, const Group& group) {
    constexpr std::uint32_t longest_pause = 256;
    Turn turn{0, 0};
    if (group.leader()) {
      turn.ticket = thread.atomic(next_ticket).fetch_add(1u, simt::relaxed);
      turn.on_arrival = thread.atomic(serving).fetch_add(0u, simt::acq_rel);
      std::uint32_t now = turn.on_arrival;
      while (now != turn.ticket) {
        const std::uint32_t ahead = turn.ticket - now;
        const std::uint32_t pause = ahead < longest_pause ? ahead : longest_pause;
        for (std::uint32_t i = 0; i < pause; ++i) thread.spin_hint();
        now = thread.atomic(serving).load(simt::acquire);
      }
    }
    group.sync();  // the leader's acquire holds for all
    return turn;
  }

  template <class Thread, class Group>
  SIMT_FN void unlock(Thread& thread, const Group& group) {
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) thread.atomic(serving).fetch_add(1u, simt::acq_rel);
  }
};

}  // namespace allocbench
