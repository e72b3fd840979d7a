// Allocators use two kinds of lock: an exchange lock of one word, and a ticket lock for queues of warps.
//
// A holder must do bounded work and may wait only for threads that do not wait for its lock. So every wait ends.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// Tries to take a lock word, which is 1 while the lock is held. Returns whether the caller now has the lock. The
// exchange acquires, and the store of unlock() releases.
template <class Thread>
SIMT_FN bool try_lock(Thread& thread, std::uint32_t& word) {
  return thread.atomic(word).exchange(1u, simt::acquire) == 0;
}
template <class Thread>
SIMT_FN void unlock(Thread& thread, std::uint32_t& word) {
  thread.atomic(word).store(0u, simt::release);
}
// Waits until the lock has been free once. The caller then sees the changes of the lock's last holder.
template <class Thread>
SIMT_FN void await_unlocked(Thread& thread, std::uint32_t& word) {
  while (thread.atomic(word).load(simt::acquire) != 0) thread.spin_hint();
}

// TicketLock is a lock that one lane takes for all lanes of its group. Groups get the lock in the order of their
// arrival. The lock uses tickets, because the hand-over of a contended exchange lock is slow on a full GPU. Groups far
// behind in the queue check less often.
struct TicketLock {
  // Both words are zero at first, and equal whenever no thread has or wants the lock.
  alignas(128) std::uint32_t next_ticket;
  alignas(128) std::uint32_t serving;  // ticket whose owner has the lock

  // Turn has the ticket of the group's leader, and the ticket that was served when the leader came.
  struct Turn {
    std::uint32_t ticket;
    std::uint32_t on_arrival;
  };

  // Takes the lock. All lanes of the group must call lock(). The result is valid on the leader. A group that is served
  // after this group has read `on_arrival` sees the earlier actions of this group. Since a load may return an old
  // value, an addition of zero reads `on_arrival` (CONTRIBUTING.md, "Mark and look").
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
    group.sync();  // the leader's acquire covers all lanes
    return turn;
  }

  template <class Thread, class Group>
  SIMT_FN void unlock(Thread& thread, const Group& group) {
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) thread.atomic(serving).fetch_add(1u, simt::acq_rel);
  }
};

}  // namespace allocbench
