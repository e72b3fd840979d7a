// Virtualised queue storage: a queue of unbounded length kept in chunks of the pool ("segments"). How a segment is
// found is the business of `Order`: array_hierarchy.hpp (VA) or linked_list.hpp (VL).
//
// Number n of a put or a take lies in segment n / slots. A segment is consumed when all its slots have been taken from;
// its chunk, empty again, then becomes the segment after the last one. So the chunks of a queue go round, as the snake
// that eats its tail, and the queue grows only when its class owns more indices.
//   A chunk cannot leave a segment under somebody's hands: it is consumed only after every take with a number in it has
// ended, and each of those needs the put with its number. No epochs, no chunks held back, nothing to trap on.
//   cover() sees to it that a class which owns i indices has ceil(i / slots) + 1 segments. Then the segment of a put
// exists, or will as soon as takes under way have ended: with F takes and P puts numbered so far, P - F <= i, and all
// segments before F / slots become free.
//
// Differs from the paper: storage is added when the class gets a chunk of pages, not when an index comes back. A free
// therefore never needs memory, and cannot fail when there is none; the price is storage for all indices of a class
// instead of those in the queue (four bytes per page). Queue chunks stay with their class.
#pragma once

#include "allocators/ouroboros/flat_ring.hpp"

namespace allocbench::ouroboros {

template <class Order>
struct SegmentedQueue {
  static constexpr bool virtualised = true;

  // All bytes zero at first, but for the last two words and what the order says.
  struct ClassState {
    alignas(128) std::uint64_t owned;     // indices that may come into the queue, or shall as soon as it is longer
    alignas(128) std::uint32_t segments;  // chunks the queue has
    std::uint32_t announced;              // those, and the ones that threads are about to add
    typename Order::ClassState order;
  };
  struct Place {
    std::uint32_t* slot;
    std::uint32_t chunk;
    std::uint32_t segment;
  };

  Order order;

  // Slots of a segment: one word each.
  static SIMT_HOST_FN std::uint32_t slots_log(const ChunkSpace& space) { return space.chunk_log - 2; }

  template <QueueEnd end, class Thread>
  SIMT_FN Place place(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                      std::uint32_t number) const {
    const std::uint32_t log = slots_log(space);
    const std::uint32_t chunk = order.template locate<end>(thread, state.order, id, number, log);
    return {space.slots(chunk) + (number & ((1u << log) - 1)), chunk, number >> log};
  }

  template <class Thread, class Group>
  SIMT_FN void leave(Thread& thread, const Group& group, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                     const Place& place) const {
    const auto same = group.match_any(place.chunk);
    if (same.leader()) consume(thread, space, state, id, place, same.num_threads());
  }
  template <class Thread>
  SIMT_FN void leave_alone(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                           const Place& place) const {
    consume(thread, space, state, id, place, 1);
  }

  template <class Thread>
  SIMT_FN std::uint32_t cover(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                              std::uint32_t chunks, std::uint32_t per_chunk) const {
    const auto owned = thread.atomic(state.owned);
    const std::uint64_t added = std::uint64_t{chunks} * per_chunk;
    const std::uint64_t wanted = owned.fetch_add(added, simt::relaxed) + added;
    if (grow(thread, space, state, id, wanted)) return chunks;
    owned.fetch_sub(added, simt::relaxed);
    std::uint64_t now = owned.load(simt::relaxed);
    for (;;) {
      const std::uint64_t most = room(thread, space, state);
      const std::uint64_t fit = now >= most ? 0 : (most - now) / per_chunk;
      const std::uint32_t granted = fit < chunks ? static_cast<std::uint32_t>(fit) : chunks;
      if (granted == 0) return 0;
      if (owned.compare_exchange(now, now + std::uint64_t{granted} * per_chunk, simt::relaxed, simt::relaxed)) {
        return granted;
      }
    }
  }
  template <class Thread>
  SIMT_FN void uncover(Thread& thread, ClassState& state, std::uint64_t indices) const {
    thread.atomic(state.owned).fetch_sub(indices, simt::relaxed);
  }

  // Makes `chunk`, all of whose slots are empty, the first segment of a class. Before any other thread uses it.
  template <class Thread>
  SIMT_FN void add_first_segment(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                                 std::uint32_t chunk) const {
    thread.atomic(space.headers[chunk]).store(0, simt::relaxed);
    order.add_first(thread, state.order, id, chunk);
    thread.atomic(state.segments).store(1u, simt::relaxed);
    thread.atomic(state.announced).store(1u, simt::relaxed);
  }

 private:
  // Indices for which the segments suffice.
  template <class Thread>
  static SIMT_FN std::uint64_t room(Thread& thread, const ChunkSpace& space, ClassState& state) {
    return std::uint64_t{thread.atomic(state.segments).load(simt::relaxed) - 1} << slots_log(space);
  }

  // The slots were emptied by exchanges. A put of the next round may still find the old index for a moment and waits;
  // no take can get it twice, since an exchange reads the last value. So the count needs no order of its own, and goes
  // on from round to round: setting it back would need one.
  template <class Thread>
  SIMT_FN void consume(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id, const Place& place,
                       std::uint32_t count) const {
    const std::uint32_t emptied = thread.atomic(space.headers[place.chunk]).fetch_add(count, simt::relaxed) + count;
    if ((emptied & ((1u << slots_log(space)) - 1)) != 0) return;
    order.recycle(thread, state.order, id, place.segment, place.chunk, slots_log(space));
  }

  // Returns when the queue has segments for `indices` indices, or false when there is no chunk for one it lacks. As
  // many threads as there are segments missing add one each; the others wait, without touching a word that those write.
  template <class Thread>
  SIMT_FN bool grow(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                    std::uint64_t indices) const {
    const std::uint32_t log = slots_log(space);
    const std::uint64_t needed = ((indices + (1u << log) - 1) >> log) + 1;
    const auto segments = thread.atomic(state.segments);
    const auto announced = thread.atomic(state.announced);
    while (segments.load(simt::relaxed) < needed) {
      std::uint32_t before = announced.load(simt::relaxed);
      if (before >= needed) {
        thread.probe(simt::Step::retry);
        thread.spin_hint();
        continue;
      }
      if (before >= order.most_segments()) return false;
      if (!announced.compare_exchange(before, before + 1, simt::relaxed, simt::relaxed)) continue;
      if (!add_segment(thread, space, state, id)) {
        announced.fetch_sub(1u, simt::relaxed);
        return false;
      }
      segments.fetch_add(1u, simt::relaxed);
    }
    return true;
  }

  template <class Thread>
  SIMT_FN bool add_segment(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id) const {
    std::uint32_t chunk = no_chunk;
    if (space.pool.take(thread, 1, chunk) == 0) return false;
    // Atomic stores, because ChunkHeap::release_chunk() comes to slots without having located them; two slots each. One
    // lane does it while others wait: a known number of stores per round spares it most of the loop.
    constexpr std::uint32_t per_round = 8;  // as many as the smallest chunk has
    auto* const pairs = reinterpret_cast<std::uint64_t*>(space.slots(chunk));
    for (std::uint32_t i = 0; i < 1u << (space.chunk_log - 3); i += per_round) {
      for (std::uint32_t k = 0; k < per_round; ++k) thread.atomic(pairs[i + k]).store(~std::uint64_t{0}, simt::relaxed);
    }
    thread.atomic(space.headers[chunk]).store(0, simt::relaxed);
    order.append(thread, state.order, id, chunk, slots_log(space));
    return true;
  }
};

}  // namespace allocbench::ouroboros
