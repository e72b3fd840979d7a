// ListQueue is the virtualised linked list (VL): the queue lies in chunks of the pool ("segments"), and each segment
// names the next one.
//
// Protocol: A take walks from the front pointer to its segment, and a put walks from the back pointer. The lane that
// puts into the first slot of a segment links the next segment behind it and moves the back pointer. The lanes of a
// warp walk together, because a lane may wait for a segment that another lane of the warp adds. The lane that completes
// the segment at the front moves the front pointer. The last `held_back` completed chunks of a class stay, because a
// slow reader may still be in them. Older ones return to the pool (pointer `old`).
//
// Differs from the published list: Pointers carry the first queue position of their segment. A reader that stands at an
// unexpected segment begins again at the front. A lane that moves the front also checks the next segment, because
// segments may be completed out of order.
//
// Orders: Between its first and its last segment, a walk makes relaxed loads, like the authors' walk. With chunks of 8
// KiB, the 100,000th index is in the 49th segment, and every acquire would empty the first-level cache of the SM. An
// outdated value on the way only makes the walk longer, because no other segment has the same first queue position. A
// walk acquires at the segment where it stays.
//
// A malloc kernel lasts as long as its slowest lane, and lanes that move the front may be the slowest. So complete()
// moves the front first, as the authors' code does. The stored times of P-VL's mallocs (results/reference/h200/peers)
// are those of another form, which alternates between moving the front and returning chunks.
#pragma once

#include "allocators/ouroboros/published/ring_queue.hpp"

namespace allocbench::ouroboros::published {

// Alone is the group of a lane that walks without other lanes.
struct Alone {
  SIMT_FN bool any(bool predicate) const { return predicate; }
};

struct ListQueue {
  static constexpr bool virtualised = true;
  static constexpr bool signals_first = false;
  static constexpr Release release = Release::none;
  // The upper half of a 64-bit word has a segment's first queue position, and the lower half has the segment's chunk.
  struct Ends {
    std::uint64_t front;
    std::uint64_t back;
    std::uint64_t old;
    std::uint32_t completed;  // number of segments between old and front
  };

  std::uint32_t held_back = 0;

  static SIMT_HOST_FN std::uint64_t pointer(std::uint32_t first_number, std::uint32_t chunk) {
    return std::uint64_t{first_number} << 32 | chunk;
  }
  static SIMT_HOST_FN std::uint32_t chunk_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static SIMT_HOST_FN std::uint32_t number_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

  template <class Thread, class Group>
  SIMT_FN std::uint32_t take(Thread& thread, const Group& group, const HeadedChunks& chunks, Ends& ends,
                             std::uint32_t id, std::uint32_t number) const {
    const std::uint32_t chunk = walk(thread, group, chunks, ends, id, number, ends.front, false);
    const std::uint32_t index = RingQueue::take_waiting(thread, slot(chunks, chunk, number));
    if (count_entries(thread, chunks, chunk, one_take)) complete(thread, chunks, ends, number, chunk);
    return index;
  }
  template <class Thread, class Group>
  SIMT_FN void put(Thread& thread, const Group& group, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                   std::uint32_t number, std::uint32_t index) const {
    const std::uint32_t chunk = walk(thread, group, chunks, ends, id, number, ends.back, true);
    put_into(thread, slot(chunks, chunk, number), index);
    if (count_entries(thread, chunks, chunk, one_put)) complete(thread, chunks, ends, number, chunk);
  }

  // One lane puts consecutive indices: four at once if four are left and the queue position is divisible by four.
  template <class Thread>
  SIMT_FN void put_run(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id, std::uint32_t number,
                       std::uint32_t many, std::uint32_t index) const {
    std::uint32_t chunk = no_chunk;
    for (std::uint32_t done = 0; done < many;) {
      if (done == 0 || offset(chunks, number) == 0) {
        chunk = walk(thread, Alone{}, chunks, ends, id, number, ends.back, true);
      }
      std::uint32_t& first = slot(chunks, chunk, number);
      const std::uint32_t step = number % 4 == 0 && many - done >= 4 ? 4 : 1;
      if (step == 4) {
        // No other thread writes these slots, because they are empty and this lane has their queue positions.
        auto* const pairs = reinterpret_cast<std::uint64_t*>(&first);
        thread.atomic(pairs[0]).store(pair(index + done), simt::release);
        thread.atomic(pairs[1]).store(pair(index + done + 2), simt::release);
      } else {
        put_into(thread, first, index + done);
      }
      if (count_entries(thread, chunks, chunk, step * one_put)) complete(thread, chunks, ends, number, chunk);
      done += step;
      number += step;
    }
  }

  template <class Thread>
  SIMT_FN std::uint32_t look(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                             std::uint32_t number, Place& place) const {
    place.chunk = find(thread, chunks, ends, id, number);
    if (place.chunk == no_chunk) return gone;
    place.slot = &slot(chunks, place.chunk, number);
    return thread.atomic(*place.slot).load(simt::acquire);
  }
  template <class Thread>
  SIMT_FN bool remove(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t, std::uint32_t number,
                      const Place& place, std::uint32_t index) const {
    if (!thread.atomic(*place.slot).compare_exchange(index, empty_slot, simt::relaxed, simt::relaxed)) return false;
    if (count_entries(thread, chunks, place.chunk, one_take)) complete(thread, chunks, ends, number, place.chunk);
    return true;
  }
  template <class Thread>
  SIMT_FN std::uint32_t put_chunk(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                                  std::uint32_t number, std::uint32_t index) const {
    put(thread, Alone{}, chunks, ends, id, number, index);
    return empty_slot;
  }

  template <class Thread>
  SIMT_FN void initialise(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                          std::uint32_t chunk) const {
    make_queue_storage(thread, chunks, chunk, id, 0);
    thread.atomic(ends.front).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(ends.back).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(ends.old).store(pointer(0, chunk), simt::relaxed);
    thread.atomic(ends.completed).store(0, simt::relaxed);
  }

 private:
  static SIMT_FN std::uint32_t offset(const HeadedChunks& chunks, std::uint32_t number) {
    return number & ((1u << chunks.slots_log()) - 1);
  }
  static SIMT_FN std::uint32_t& slot(const HeadedChunks& chunks, std::uint32_t chunk, std::uint32_t number) {
    return chunks.slots(chunk)[offset(chunks, number)];
  }
  static SIMT_FN std::uint64_t pair(std::uint32_t index) { return std::uint64_t{index + 1} << 32 | index; }
  // Returns whether queue position `a` comes before `b`. The positions wrap around.
  static SIMT_FN bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

  enum class Stand : std::uint32_t { here, before, lost };
  // Compares the segment of a chunk with the segment whose first queue position is `first`.
  template <class Thread, class Order>
  static SIMT_FN Stand stand(Thread& thread, const HeadedChunks& chunks, std::uint32_t chunk, std::uint32_t id,
                             std::uint32_t first, Order order) {
    const std::uint64_t segment = thread.atomic(chunks.header(chunk).segment).load(order);
    if (segment >> 32 != id) return Stand::lost;
    const auto begins = static_cast<std::uint32_t>(segment);
    return begins == first ? Stand::here : is_before(begins, first) ? Stand::before : Stand::lost;
  }

  // Returns the chunk of the segment with queue position `number`. The lanes of the group make one step each, until all
  // have arrived and have added the segments that they must add.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t walk(Thread& thread, const Group& group, const HeadedChunks& chunks, Ends& ends,
                             std::uint32_t id, std::uint32_t number, std::uint64_t& start, bool puts) const {
    const std::uint32_t first = number - offset(chunks, number);
    const std::uint64_t seen = thread.atomic(start).load(simt::relaxed);
    std::uint32_t chunk = chunk_of(seen);
    std::uint32_t looks = 0;
    bool at_start = true;
    bool arrived = false;
    do {
      if (arrived) continue;
      const Stand found = at_start ? stand(thread, chunks, chunk, id, first, simt::acquire)
                                   : stand(thread, chunks, chunk, id, first, simt::relaxed);
      if (found == Stand::here) {
        // The segment stays, because this lane has a queue position in it. This load only orders memory.
        if (!at_start) static_cast<void>(thread.atomic(chunks.header(chunk).segment).load(simt::acquire));
        if (puts && first == number) add_segment(thread, chunks, ends, id, number, chunk, seen);
        arrived = true;
      } else if (found == Stand::lost) {
        thread.probe(simt::Step::retry);
        chunk = chunk_of(thread.atomic(ends.front).load(simt::relaxed));
        at_start = false;
      } else {
        const std::uint32_t next = thread.atomic(chunks.header(chunk).next).load(simt::relaxed);
        if (next == no_chunk) {
          back_off(thread, ++looks);
        } else {
          thread.probe(simt::Step::walk);
          chunk = next;
          at_start = false;
        }
      }
    } while (group.any(!arrived));
    return chunk;
  }

  // Searches the segments from the front for the segment of `number`, without waiting. Returns its chunk, or no_chunk
  // if it does not find the segment.
  template <class Thread>
  SIMT_FN std::uint32_t find(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                             std::uint32_t number) const {
    const std::uint32_t first = number - offset(chunks, number);
    std::uint32_t chunk = chunk_of(thread.atomic(ends.front).load(simt::acquire));
    while (chunk != no_chunk) {
      const Stand found = stand(thread, chunks, chunk, id, first, simt::acquire);
      if (found == Stand::here) return chunk;
      if (found == Stand::lost) return no_chunk;
      thread.probe(simt::Step::walk);
      chunk = thread.atomic(chunks.header(chunk).next).load(simt::acquire);
    }
    return no_chunk;
  }

  // Links a new segment behind the segment in `chunk`. The caller has the first queue position of the segment in
  // `chunk`. `seen` is the last value of the back pointer that the caller saw.
  template <class Thread>
  SIMT_FN void add_segment(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                           std::uint32_t number, std::uint32_t chunk, std::uint64_t seen) const {
    const std::uint32_t behind = chunks.take_for_queue(thread);
    make_queue_storage(thread, chunks, behind, id, number + (1u << chunks.slots_log()));
    thread.atomic(chunks.header(chunk).next).store(behind, simt::release);
    if (is_before(number_of(seen), number)) {
      thread.atomic(ends.back).compare_exchange(seen, pointer(number, chunk), simt::release, simt::relaxed);
    }
  }

  // Handles the completion of the segment of `number`. If this segment is the front, moves the front over it and over
  // completed segments behind it. Otherwise the lane that completes the front moves it. complete() returns chunks last.
  // If it returned chunks between two steps, the next segments could complete meanwhile, and one lane would move the
  // front over all of them.
  template <class Thread>
  SIMT_FN void complete(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t number,
                        std::uint32_t chunk) const {
    const std::uint32_t slots = 1u << chunks.slots_log();
    std::uint32_t first = number - offset(chunks, number);
    std::uint32_t passed = 0;
    do {
      const std::uint32_t next = thread.atomic(chunks.header(chunk).next).load(simt::acquire);
      std::uint64_t front = pointer(first, chunk);
      if (!thread.atomic(ends.front)
               .compare_exchange(front, pointer(first + slots, next), simt::acq_rel, simt::relaxed)) {
        break;
      }
      ++passed;
      chunk = next;
      first += slots;
    } while (is_complete(thread, chunks, chunk));
    if (passed != 0) hold_back(thread, chunks, ends, passed);
  }

  // Returns whether the segment is complete. A load may miss another thread's change, so an addition of 0 confirms a
  // "no". Then one of two threads at neighbouring segments sees the other's change (CONTRIBUTING.md, "Mark and look").
  template <class Thread>
  static SIMT_FN bool is_complete(Thread& thread, const HeadedChunks& chunks, std::uint32_t chunk) {
    const std::uint32_t slots = 1u << chunks.slots_log();
    const auto entries = thread.atomic(chunks.header(chunk).entries);
    return entries.load(simt::acquire) == slots || entries.fetch_add(0u, simt::acq_rel) == slots;
  }

  // Counts `passed` more completed segments, and returns the oldest ones to the pool until `held_back` remain.
  template <class Thread>
  SIMT_FN void hold_back(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t passed) const {
    const auto completed = thread.atomic(ends.completed);
    if (completed.load(simt::relaxed) < held_back) {
      const std::uint32_t held = completed.fetch_add(passed, simt::acq_rel);
      const std::uint32_t room = held < held_back ? held_back - held : 0;
      if (passed <= room) return;
      passed -= room;
      completed.fetch_sub(passed, simt::acq_rel);
    }
    for (; passed != 0; --passed) give_oldest(thread, chunks, ends);
  }

  template <class Thread>
  SIMT_FN void give_oldest(Thread& thread, const HeadedChunks& chunks, Ends& ends) const {
    const auto old = thread.atomic(ends.old);
    std::uint64_t oldest = old.load(simt::acquire);
    for (;;) {
      const std::uint32_t next = thread.atomic(chunks.header(chunk_of(oldest)).next).load(simt::acquire);
      const std::uint64_t second = pointer(number_of(oldest) + (1u << chunks.slots_log()), next);
      if (old.compare_exchange(oldest, second, simt::acq_rel, simt::acquire)) break;
    }
    chunks.give(thread, chunk_of(oldest));
  }
};

}  // namespace allocbench::ouroboros::published
