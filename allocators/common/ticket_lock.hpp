// A lock for warps: one lane takes it for all lanes of its group that come together, in the order in which they came.
//
// Tickets, because a lock that all try to exchange when it comes free is handed on in 27 us and more on a full H100.
// Who is far behind looks less often. Waits end where every holder does bounded work and waits for nobody.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

struct TicketLock {
  // Zero when nobody has or wants the lock.
  alignas(128) std::uint32_t next_ticket;
  alignas(128) std::uint32_t serving;  // the ticket whose owner has the lock

  // Of the group's leader: its ticket, and whose turn it was when it came.
  struct Turn {
    std::uint32_t ticket;
    std::uint32_t on_arrival;
  };

  // For all lanes of the group. The turn is valid on the leader.
  template <class Thread, class Group>
  SIMT_FN Turn lock(Thread& thread, const Group& group) {
    constexpr std::uint32_t longest_pause = 256;
    Turn turn{0, 0};
    if (group.leader()) {
      turn.ticket = thread.atomic(next_ticket).fetch_add(1u, simt::relaxed);
      turn.on_arrival = thread.atomic(serving).load(simt::acquire);
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
    group.sync();  // the leader's release speaks for all
    if (group.leader()) thread.atomic(serving).fetch_add(1u, simt::release);
  }
};

}  // namespace allocbench
