// WorkQueue is a queue of tasks in device memory, for persistent warps. It is a ring of slots, each with a turn word.
//
// A warp that puts or takes a task draws a ticket. Ticket t owns slot t modulo the size in lap t / size. A slot's turn
// is 2 * lap while the slot waits to be filled, and 2 * lap + 1 while it waits to be emptied. So every waiting warp
// reads its own word, and each put and each take changes one shared word once. With a scan over a pool of headers, as
// in the authors' framework, thousands of idle warps would read the same lines.
//
// Waits end: A taking warp waits for a task or for the stop that the last `finish` sends. A putting warp waits at most
// for a taker that has drawn its ticket and whose slot is full. Longer waits are impossible, because room() and the
// limit of parts keep fewer tasks in the queue than it has slots. All launched blocks must be resident.
//
// Orders: One lane stores turns with release and reads them with acquire; group.sync() passes the order on to the other
// lanes.
//
// ABA: A turn grows by 2 per lap. A build has fewer than 2^32 tasks, so neither tickets nor turns repeat.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench::kd_tree {

enum class TaskKind : std::uint32_t { node, part, stop };

// A node to process, or a part of a node that several warps share.
struct alignas(16) Task {
  std::uint32_t* list;  // triangles of the node
  std::uint32_t count;  // triangles in the list
  std::uint32_t node;   // index in the node array; for a part, index of the shared node
  float low[3];
  std::uint32_t level;  // packed fields; the accessors below read them
  float high[3];
  std::uint32_t part;  // number of the part

  SIMT_FN TaskKind kind() const { return static_cast<TaskKind>(level >> 24); }
  SIMT_FN std::uint32_t depth() const { return level & 0xff; }
  SIMT_FN std::uint32_t failed_splits() const { return level >> 8 & 0xff; }
  // Returns whether the list came from the allocator and must be freed. The root's list did not.
  SIMT_FN bool owns_list() const { return (level >> 16 & 1) != 0; }

  static SIMT_FN std::uint32_t level_of(TaskKind kind, std::uint32_t depth, std::uint32_t failed_splits,
                                        bool owns_list) {
    return static_cast<std::uint32_t>(kind) << 24 | (owns_list ? 1u << 16 : 0u) | failed_splits << 8 | depth;
  }
};
static_assert(sizeof(Task) == 48);

struct alignas(64) QueueSlot {
  Task task;
  std::uint32_t turn;
};

// A word that all warps share. Each word has its own cache line.
struct alignas(128) SharedWord {
  std::uint32_t word;
};

struct WorkQueue {
  QueueSlot* slots;
  SharedWord* tail;      // ticket of the next put
  SharedWord* head;      // ticket of the next take
  SharedWord* finished;  // number of finished tasks
  std::uint32_t size_log2;
  std::uint32_t room_limit;  // number of queued tasks above which single tasks stay with their warp

  // Returns log2 of a number of slots that `limit` single tasks, `parts` parts and `warps` warps can never fill. Each
  // warp may exceed the limit by one task, and `warps` stops come at the end.
  static std::uint32_t size_log2_for(std::uint32_t limit, std::uint32_t parts, std::uint32_t warps) {
    std::uint32_t log2 = 0;
    while ((1u << log2) < limit + parts + 2 * warps) ++log2;
    return log2;
  }

  template <class Thread>
  SIMT_FN bool room(Thread& thread) const {  // one lane calls it
    const std::uint32_t put = thread.atomic(tail->word).load(simt::relaxed);
    const std::uint32_t taken = thread.atomic(head->word).load(simt::relaxed);
    return static_cast<std::int32_t>(put - taken) < static_cast<std::int32_t>(room_limit);
  }

  // Puts `count` tasks. All lanes call this function. `task_of(i)` returns task i. If the caller has synchronised the
  // lanes, the taking warp sees what they wrote before the put.
  template <class Thread, class Group, class TaskOf>
  SIMT_FN void put(Thread& thread, const Group& warp, std::uint32_t count, TaskOf&& task_of) const {
    std::uint32_t first = 0;
    if (thread.lane() == 0) first = thread.atomic(tail->word).fetch_add(count, simt::relaxed);
    first = warp.shfl_lane(first, 0);
    for (std::uint32_t i = thread.lane(); i < count; i += simt::warp_size) {
      const std::uint32_t ticket = first + i;
      QueueSlot& slot = slots[ticket & ((1u << size_log2) - 1)];
      const std::uint32_t empty = ticket >> size_log2 << 1;
      wait_for(thread, slot, empty);
      slot.task = task_of(i);
      thread.atomic(slot.turn).store(empty + 1, simt::release);
    }
    warp.sync();
  }

  // Waits for the next task. All lanes call this function and get the task.
  template <class Thread, class Group>
  SIMT_FN Task take(Thread& thread, const Group& warp) const {
    std::uint32_t ticket = 0;
    if (thread.lane() == 0) ticket = thread.atomic(head->word).fetch_add(1u, simt::relaxed);
    ticket = warp.shfl_lane(ticket, 0);
    QueueSlot& slot = slots[ticket & ((1u << size_log2) - 1)];
    const std::uint32_t full = (ticket >> size_log2 << 1) + 1;
    if (thread.lane() == 0) wait_for(thread, slot, full);
    warp.sync();
    const Task task = slot.task;
    warp.sync();
    if (thread.lane() == 0) thread.atomic(slot.turn).store(full + 1, simt::release);
    return task;
  }

  // Only the waiting lane changes a turn that it waits for, so the acquire reads the same value as the last load. The
  // polling loads are relaxed, because an acquire empties the L1 cache of the working warps.
  template <class Thread>
  static SIMT_FN void wait_for(Thread& thread, QueueSlot& slot, std::uint32_t turn) {
    while (thread.atomic(slot.turn).load(simt::relaxed) != turn) thread.spin_hint();
    static_cast<void>(thread.atomic(slot.turn).load(simt::acquire));
  }

  // Marks a taken task as finished. Returns true for the last task only. New tasks are put before the task that created
  // them is finished, so the numbers of put and finished tasks are equal only at the end. One lane calls this function.
  template <class Thread>
  SIMT_FN bool finish(Thread& thread) const {
    const std::uint32_t done = thread.atomic(finished->word).fetch_add(1u, simt::acq_rel) + 1;
    return done == thread.atomic(tail->word).load(simt::relaxed);
  }
};

}  // namespace allocbench::kd_tree
