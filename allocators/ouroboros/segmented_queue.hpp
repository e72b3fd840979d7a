// Virtualised queue storage: a queue of unbounded length kept in chunks of the pool ("segments"). `Order` finds the
// chunk of a segment: array_hierarchy.hpp (VA) or linked_list.hpp (VL).
//
// Number n of a put or a take lies in segment n / slots. A segment is consumed when all its slots have been taken from.
// Its chunk is then empty and becomes the segment after the last one. So the chunks of a queue are reused in a circle,
// and the queue grows only if its class owns more indices.
//   No thread uses a chunk that has left its segment: a segment is consumed only after every take with a number in it
// has ended, and each of those needs the put with its number.
//   cover() ensures that a class with i indices has ceil(i / slots) + 1 segments. The segment of a put then exists, or
// will exist once the current takes have ended: with F takes and P puts numbered so far, P - F <= i, and all segments
// below F / slots become free.
//   Many simultaneous groups ask cover() for more chunks than the pool has left. Queue chunks stay with their class. A
// queue gets at most as many as a class with all chunks of the pool needs, so it never owns more indices than they
// hold.
//
// Differs from the paper: storage is added when the class gets a chunk of pages, not when an index comes back. So a
// free never needs memory and cannot fail. The price is storage for all indices of a class instead of those in the
// queue (four bytes per page). Queue chunks stay with their class.
#pragma once

#include "allocators/ouroboros/flat_ring.hpp"

namespace allocbench::ouroboros {

template <class Order>
struct SegmentedQueue {
  static constexpr bool virtualised = true;

  // All bytes zero at first, except for the last two words and where the order says otherwise.
  struct ClassState {
    alignas(128) std::uint64_t owned;     // indices that may be in the queue, now or once it is longer
    alignas(128) std::uint32_t segments;  // chunks the queue has
    std::uint32_t announced;              // those, and chunks that threads are about to add
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
    if (grow(thread, space, state, id, wanted, per_chunk)) return chunks;
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

  // For a class whose chunks have `per_chunk` indices each: the least n for which n segments hold the indices of all
  // other chunks. Each other class has one segment.
  static SIMT_HOST_FN std::uint32_t segments_for_all_chunks(const ChunkSpace& space, std::uint32_t per_chunk) {
    const std::uint32_t chunks_per_segment = (1u << slots_log(space)) / per_chunk;
    const std::uint32_t chunks = space.pool.chunk_count - space.class_count();
    return chunks / (chunks_per_segment + 1) + (chunks % (chunks_per_segment + 1) != 0 ? 1 : 0) + 1;
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

  // The slots were emptied by exchanges. A put of the next round may find the old index for a moment and waits; no take
  // can get it twice, because an exchange reads the last value. So the count needs no memory order. It is never set
  // back, which would need one.
  template <class Thread>
  SIMT_FN void consume(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id, const Place& place,
                       std::uint32_t count) const {
    const std::uint32_t emptied = thread.atomic(space.headers[place.chunk]).fetch_add(count, simt::relaxed) + count;
    if ((emptied & ((1u << slots_log(space)) - 1)) != 0) return;
    order.recycle(thread, state.order, id, place.segment, place.chunk, slots_log(space));
  }

  // True once the queue has segments for as many of `indices` indices as there can be, false if there is no chunk for a
  // missing one. As many threads as segments are missing add one each; the others wait without writing a shared word.
  template <class Thread>
  SIMT_FN bool grow(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id, std::uint64_t indices,
                    std::uint32_t per_chunk) const {
    const std::uint32_t log = slots_log(space);
    const std::uint64_t wanted = ((indices + (1u << log) - 1) >> log) + 1;
    const std::uint64_t most = segments_for_all_chunks(space, per_chunk);
    const std::uint64_t needed = wanted < most ? wanted : most;
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
    // Atomic stores, because ChunkHeap::release_chunk() uses slots without having located them; two slots each. One
    // lane stores while others wait, so the loop is unrolled.
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
