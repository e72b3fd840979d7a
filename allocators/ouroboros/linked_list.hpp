// LinkedList finds segments by links (VL): a table gives the chunk of the next segment. A segment is a chunk that
// stores a part of the queue (segmented_queue.hpp).
//
// Each chunk has a node: a word in a table with the chunk's segment, a mark that is set when the segment is consumed,
// and the chunk of the next segment. `head` is the first segment of the list, and `tail` is the last one. Walks usually
// do not start at the head but at `near_front` and `near_back`, the places of recent takes and puts. `recent` has the
// places of up to 256 segments. All these places are hints: a lane uses a place only if the node of its chunk agrees.
// Without `recent`, the last warps of a large burst of takes would load one node per segment, one after the other.
//
// Protocol:
// * Segments are consumed in any order but unlinked in order. A consumed segment can be unlinked as soon as it has a
//   next one. The thread whose mark or link makes this possible calls advance(), which moves the head over such
//   segments and appends their chunks at the tail.
// * A walk reads nodes of chunks that may become other segments meanwhile. A node contains its segment number, and
//   numbers are not reused soon, so the walk detects such a change and restarts from the head. The head never passes a
//   segment in which a thread still holds a queue position. Nodes lie outside the chunks and always stay nodes.
//
// Differs from the paper: In the published list, pointers lie inside the chunks, and each class keeps ten old chunks
// back for slow readers.
#pragma once

#include "allocators/ouroboros/segmented_queue.hpp"

namespace allocbench::ouroboros {

struct LinkedList {
  // Each word has a segment in its upper half and the segment's chunk in its lower half.
  struct ClassState {
    alignas(128) std::uint64_t head;
    alignas(128) std::uint64_t tail;
    alignas(128) std::uint64_t near_front;
    alignas(128) std::uint64_t near_back;
    alignas(128) std::uint64_t recent[256];  // places by segment number, modulo 256
  };

  // Each chunk has one node. Bit 63 marks a consumed segment, and bits 32-62 have the segment. Bits 0-31 have the next
  // chunk; all ones mean that there is none yet.
  std::uint64_t* nodes = nullptr;
  static constexpr std::uint64_t consumed = std::uint64_t{1} << 63;
  static constexpr std::uint64_t next_bits = 0xffffffffu;

  static SIMT_HOST_FN std::uint64_t pointer(std::uint32_t segment, std::uint32_t chunk) {
    return std::uint64_t{segment} << 32 | chunk;
  }
  static SIMT_HOST_FN std::uint32_t segment_of(std::uint64_t word) {
    return static_cast<std::uint32_t>((word & ~consumed) >> 32);
  }
  static SIMT_HOST_FN std::uint32_t chunk_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

  SIMT_FN std::uint64_t most_segments() const { return ~std::uint64_t{0}; }

  template <QueueEnd end, class Thread>
  SIMT_FN std::uint32_t locate(Thread& thread, ClassState& state, std::uint32_t, std::uint32_t number,
                               std::uint32_t slots_log) const {
    const std::uint32_t segment = number >> slots_log;
    const auto near = thread.atomic(end == QueueEnd::front ? state.near_front : state.near_back);
    const auto head = thread.atomic(state.head);
    const auto recent = thread.atomic(state.recent[segment % 256]);
    const std::uint64_t hint = recent.load(simt::acquire);
    if (segment_of(hint) == segment &&
        segment_of(thread.atomic(nodes[chunk_of(hint)]).load(simt::acquire)) == segment) {
      return chunk_of(hint);
    }
    std::uint64_t seen = near.load(simt::acquire);
    std::uint64_t here = seen;
    if (is_before(segment, segment_of(here), slots_log)) here = head.load(simt::acquire);
    for (;;) {
      const std::uint64_t node = thread.atomic(nodes[chunk_of(here)]).load(simt::acquire);
      if (segment_of(node) != segment_of(here)) {
        thread.probe(simt::Step::retry);
        here = head.load(simt::acquire);
        continue;
      }
      if (segment_of(here) == segment) break;
      const std::uint32_t next = chunk_of(node);
      if (next == no_chunk) {
        thread.spin_hint();
        continue;
      }
      thread.probe(simt::Step::walk);
      here = pointer(next_segment(segment_of(here), slots_log), next);
    }
    // In locate(), only the thread with the first queue position of the segment sets hints.
    if ((number & ((1u << slots_log) - 1)) == 0) {
      recent.store(here, simt::release);
      if (is_before(segment_of(seen), segment, slots_log)) {
        near.compare_exchange(seen, here, simt::release, simt::relaxed);
      }
    }
    return chunk_of(here);
  }

  template <class Thread>
  SIMT_FN void append(Thread& thread, ClassState& state, std::uint32_t, std::uint32_t chunk,
                      std::uint32_t slots_log) const {
    std::uint64_t last = thread.atomic(state.tail).load(simt::acquire);
    const bool moves_head = link_behind_tail(thread, nodes, state, last, &chunk, 1, slots_log, simt::release);
    if (moves_head) advance(thread, nodes, state, slots_log);
  }

  template <class Thread>
  SIMT_FN void recycle(Thread& thread, ClassState& state, std::uint32_t, std::uint32_t, std::uint32_t chunk,
                       std::uint32_t slots_log) const {
    const std::uint64_t node = thread.atomic(nodes[chunk]).fetch_or(consumed, simt::acq_rel);
    if (chunk_of(node) != no_chunk) advance(thread, nodes, state, slots_log);
  }

  template <class Thread>
  SIMT_FN void initialise(Thread&, std::uint32_t, std::uint32_t, std::uint32_t) const {}

  template <class Thread>
  SIMT_FN void add_first(Thread& thread, ClassState& state, std::uint32_t, std::uint32_t chunk) const {
    thread.atomic(nodes[chunk]).store(pointer(0, no_chunk), simt::relaxed);
    thread.atomic(state.head).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(state.tail).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(state.near_front).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(state.near_back).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(state.recent[0]).store(pointer(0, chunk), simt::relaxed);
  }

 private:
  static SIMT_FN std::uint32_t next_segment(std::uint32_t segment, std::uint32_t slots_log) {
    return (segment + 1) & (0xffffffffu >> slots_log);
  }
  // Returns whether segment `a` comes before segment `b`. The numbers wrap around.
  static SIMT_FN bool is_before(std::uint32_t a, std::uint32_t b, std::uint32_t slots_log) {
    return static_cast<std::int32_t>((a - b) << slots_log) < 0;
  }

  // Links `count` chunks as the next segments. On entry, `last` is the tail that the caller knows; on return, the new
  // tail. Returns true if the segment before the new ones is already consumed. Then this thread must move the head.
  // Mark and link are in one word, so either the thread that marks or the thread that links sees both.
  //
  // `order` is the memory order of the stores by which other threads find the chunks. A fresh chunk needs release,
  // because this thread has just written its empty slots. A chunk that is reused immediately needs only relaxed,
  // because exchanges hand its slots over.
  template <class Thread, class Order>
  static SIMT_FN bool link_behind_tail(Thread& thread, std::uint64_t* nodes, ClassState& state, std::uint64_t& last,
                                       const std::uint32_t* chunks, std::uint32_t count, std::uint32_t slots_log,
                                       Order order) {
    const auto tail = thread.atomic(state.tail);
    std::uint64_t newest;
    do {
      newest = last;
      SIMT_ROLLED
      for (std::uint32_t i = 0; i < count; ++i) {
        newest = pointer(next_segment(segment_of(newest), slots_log), chunks[i]);
        const std::uint32_t next = i + 1 < count ? chunks[i + 1] : no_chunk;
        thread.atomic(nodes[chunks[i]]).store(pointer(segment_of(newest), next), order);
      }
    } while (!tail.compare_exchange(last, newest, simt::acq_rel, simt::acquire));
    const std::uint64_t before = thread.atomic(nodes[chunk_of(last)]).fetch_and(~next_bits | chunks[0], simt::acq_rel);
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < count; ++i) {
      last = pointer(next_segment(segment_of(last), slots_log), chunks[i]);
      thread.atomic(state.recent[segment_of(last) % 256]).store(last, order);
    }
    return (before & consumed) != 0;
  }

  // Passed holds consumed segments at the head, in order, as pass_consumed() finds them.
  struct Passed {
    static constexpr std::uint32_t most = 64;

    std::uint32_t chunks[most];
    std::uint32_t count;
    std::uint64_t next;  // first segment that was not passed
    bool stale;          // true if `next` is no longer that segment
  };

  // Moves the head over consumed segments until one is not consumed or has no next one, and appends their chunks at the
  // tail. If many segments were consumed at about the same time, one thread may move the head over all of them. An
  // exchange of the head costs a trip to memory and a fence, and loads of several nodes overlap, so the thread passes
  // several segments at a time. The function runs at most once per segment, so it is not inlined.
  //
  // The caller has just marked or linked a node. The thread stops only if a read-modify-write of the head's node
  // (still_open) shows that the segment is not consumed or has no next one. With a load, two threads that mark
  // neighbours could each miss the other's mark, and the head would stay (CONTRIBUTING.md, "Mark and look").
  template <class Thread>
  SIMT_NOINLINE_FN static void advance(Thread& thread, std::uint64_t* nodes, ClassState& state,
                                       std::uint32_t slots_log) {
    const auto head = thread.atomic(state.head);
    std::uint64_t first = head.load(simt::acquire);
    std::uint64_t last = thread.atomic(state.tail).load(simt::acquire);
    Passed passed;
    for (;;) {
      pass_consumed(thread, nodes, state, slots_log, first, passed);
      if (passed.stale) {
        first = head.load(simt::acquire);
        continue;
      }
      if (passed.count == 0) {
        if (still_open(thread, nodes, first)) return;
        first = head.load(simt::acquire);
        continue;
      }
      if (!head.compare_exchange(first, passed.next, simt::acq_rel, simt::acquire)) continue;
      // If the segment before these is consumed already, the next round of this loop sees it.
      link_behind_tail(thread, nodes, state, last, passed.chunks, passed.count, slots_log, simt::relaxed);
      first = passed.next;
    }
  }

  // Returns true if the chunk of `here` still has this segment, and the segment is not consumed or has no next one. The
  // OR with 0 is ordered with the marks and links of other threads. Either the OR sees them, or their threads see the
  // head that the caller saw.
  template <class Thread>
  static SIMT_FN bool still_open(Thread& thread, std::uint64_t* nodes, std::uint64_t here) {
    const std::uint64_t node = thread.atomic(nodes[chunk_of(here)]).fetch_or(std::uint64_t{0}, simt::acq_rel);
    return segment_of(node) == segment_of(here) && ((node & consumed) == 0 || chunk_of(node) == no_chunk);
  }

  // Collects consumed segments, beginning with `first`, up to as many as `passed` holds. Loads several nodes together:
  // `recent` predicts the next nodes, and a prediction is used if the links agree. Relaxed loads are enough, because a
  // consumed chunk contains no data.
  template <class Thread>
  static SIMT_FN void pass_consumed(Thread& thread, std::uint64_t* nodes, ClassState& state, std::uint32_t slots_log,
                                    std::uint64_t first, Passed& passed) {
    constexpr std::uint32_t looks = 8;
    passed.count = 0;
    passed.next = first;
    passed.stale = false;
    bool goes_on = true;
    while (goes_on && passed.count + looks <= Passed::most) {
      std::uint64_t guess[looks];
      std::uint64_t node[looks];
      SIMT_UNROLLED
      for (std::uint32_t i = 0; i < looks; ++i) {
        const std::uint32_t segment = (segment_of(passed.next) + i) & (0xffffffffu >> slots_log);
        guess[i] = thread.atomic(state.recent[segment % 256]).load(simt::relaxed);
      }
      guess[0] = passed.next;
      SIMT_UNROLLED
      for (std::uint32_t i = 0; i < looks; ++i) {
        node[i] = thread.atomic(nodes[chunk_of(guess[i])]).load(simt::relaxed);
      }
      SIMT_UNROLLED
      for (std::uint32_t i = 0; i < looks; ++i) {
        if (guess[i] != passed.next) break;
        passed.stale = segment_of(node[i]) != segment_of(passed.next);
        goes_on = !passed.stale && (node[i] & consumed) != 0 && chunk_of(node[i]) != no_chunk;
        if (!goes_on) break;
        passed.chunks[passed.count++] = chunk_of(passed.next);
        passed.next = pointer(next_segment(segment_of(passed.next), slots_log), chunk_of(node[i]));
      }
    }
  }
};

}  // namespace allocbench::ouroboros
