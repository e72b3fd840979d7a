// SegmentedQueue is virtualised queue storage: a queue that lies in chunks of the pool ("segments") and can grow.
// `Order` finds the chunk of a segment: array_hierarchy.hpp (VA) or linked_list.hpp (VL).
//
// A segment has `slots` slots, and the put or take at queue position n uses segment n / slots. A segment is consumed
// when takes have emptied all its slots. Its chunk is then empty and becomes the segment after the last one. So the
// chunks of a queue are reused in a circle, and the queue grows only when its class gets more indices.
//
// Protocol:
// * No put or take uses a chunk that has left its segment. A segment is consumed only after all its takes have ended,
//   and each of these takes needs the put at its position.
// * cover() ensures that a class with i indices has at least ceil(i / slots) + 1 segments. So the segment of a put
//   exists, or will exist after the current takes have ended: with F takes and P puts so far, P - F <= i, and all
//   segments below F / slots become free.
// * Many groups together may request more chunks from cover() than the pool has left. A limit keeps them from turning
//   all remaining chunks into queue chunks: a queue gets at most as many chunks as it would need if its class had all
//   chunks of pages. This number is enough for all indices that the class can own.
//
// Differs from the paper: Storage is added when the class gets a chunk of pages, not when an index returns. So a free
// never needs memory and cannot fail. The cost is storage for all indices of a class (four bytes per page or, in
// chunk-based variants, per chunk) instead of only those in the queue. Queue chunks stay with their class. In the
// authors' code emptied queue chunks may serve any class.
#pragma once

#include "allocators/ouroboros/flat_ring.hpp"

namespace allocbench::ouroboros {

template <class Order>
struct SegmentedQueue {
  static constexpr bool virtualised = true;

  // All bytes are zero until add_first_segment() writes `segments`, `announced` and `order`.
  struct ClassState {
    alignas(128) std::uint64_t owned;     // number of indices that may be in the queue, now or once it is longer
    alignas(128) std::uint32_t segments;  // number of chunks of the queue
    std::uint32_t announced;              // chunks of the queue and chunks that threads are about to add
    typename Order::ClassState order;
  };
  struct Place {
    std::uint32_t* slot;
    std::uint32_t chunk;
    std::uint32_t segment;
  };

  Order order;

  // Returns log2 of the slots of a segment. A slot is one word.
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

  // Returns the least n for which n - 1 segments hold the indices of all chunks that are not segments. One segment is
  // spare, as in cover(). Each chunk of the class has `per_chunk` indices, and each other class has one segment.
  static SIMT_HOST_FN std::uint32_t segments_for_all_chunks(const ChunkSpace& space, std::uint32_t per_chunk) {
    const std::uint32_t chunks_per_segment = (1u << slots_log(space)) / per_chunk;
    const std::uint32_t chunks = space.pool.chunk_count - space.class_count();
    return chunks / (chunks_per_segment + 1) + (chunks % (chunks_per_segment + 1) != 0 ? 1 : 0) + 1;
  }

  // Turns `chunk`, whose slots are all empty, into the first segment of a class. No other thread may use the class yet.
  template <class Thread>
  SIMT_FN void add_first_segment(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id,
                                 std::uint32_t chunk) const {
    thread.atomic(space.headers[chunk]).store(0, simt::relaxed);
    order.add_first(thread, state.order, id, chunk);
    thread.atomic(state.segments).store(1u, simt::relaxed);
    thread.atomic(state.announced).store(1u, simt::relaxed);
  }

 private:
  // Returns the number of indices for which the segments suffice.
  template <class Thread>
  static SIMT_FN std::uint64_t room(Thread& thread, const ChunkSpace& space, ClassState& state) {
    return std::uint64_t{thread.atomic(state.segments).load(simt::relaxed) - 1} << slots_log(space);
  }

  // Counts emptied slots. The thread that counts the last slot of the segment recycles the chunk. The count needs no
  // memory order, because exchanges emptied the slots. A put of the next round may find the old index for a moment and
  // then waits. No take gets an index twice, because an exchange reads the last value. The count is never reset,
  // because a reset would need a memory order.
  template <class Thread>
  SIMT_FN void consume(Thread& thread, const ChunkSpace& space, ClassState& state, std::uint32_t id, const Place& place,
                       std::uint32_t count) const {
    const std::uint32_t emptied = thread.atomic(space.headers[place.chunk]).fetch_add(count, simt::relaxed) + count;
    if ((emptied & ((1u << slots_log(space)) - 1)) != 0) return;
    order.recycle(thread, state.order, id, place.segment, place.chunk, slots_log(space));
  }

  // Grows the queue until its segments suffice for `indices` indices, or for all indices that can exist. Returns false
  // if there is no chunk for a missing segment, or if the array (VA) has no room for it. Each missing segment is added
  // by one thread. Threads with no segment to add wait without writing a shared word.
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
    // The stores are atomic, because ChunkHeap::release_chunk() uses slots without having located them. Each store
    // fills two slots. One lane stores while others wait, so the loop is unrolled.
    constexpr std::uint32_t per_round = 8;  // stores of the smallest chunk
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
