// TicketRange holds consecutive numbers for the lanes of a group, at most as many as there are units. In queues, a
// number is a place in the ring.
#pragma once

#include "allocators/support/common/units.hpp"

namespace allocbench {

struct TicketRange {
  std::uint32_t count = 0;  // number of lanes with a ticket; they have the lowest ranks
  std::uint32_t first = 0;

  template <class Group>
  SIMT_FN bool has_one(const Group& group) const {
    return group.thread_rank() < count;
  }
  template <class Group>
  SIMT_FN std::uint32_t own(const Group& group) const {
    return first + group.thread_rank();
  }
};

// Takes tickets for the lanes of a group. All lanes must call this function; the leader changes both words.
template <class Thread, class Group>
SIMT_FN TicketRange take_tickets(Thread& thread, const Group& group, std::uint32_t& units, std::uint32_t& numbers) {
  TicketRange tickets;
  if (group.leader()) {
    tickets.count = take_units_if_any(thread, units, group.num_threads());
    if (tickets.count != 0) tickets.first = thread.atomic(numbers).fetch_add(tickets.count, simt::relaxed);
  }
  tickets.count = group.broadcast(tickets.count);
  tickets.first = group.broadcast(tickets.first);
  return tickets;
}

}  // namespace allocbench
