// ChunkPool holds the unused chunks: fresh ones and returned ones.
//
// A counter numbers the fresh chunks, and a ring holds the returned ones. Heaps take chunks from ChunkPool for pages
// and for queue storage.
//
// Differs from the published code: If no chunk is left, a request gets none; the published code does not check this and
// writes beyond the pool. One addition can take several contiguous fresh chunks.
#pragma once

#include "allocators/support/common/bulk_semaphore.hpp"
#include "allocators/support/common/index_slot.hpp"

namespace allocbench::ouroboros {

inline constexpr std::uint32_t no_chunk = 0xffffffffu;

struct ChunkPool {
  // All bytes are zero at first, with two exceptions. In virtualised variants `next_fresh` is the number of classes:
  // each starts with a queue chunk. In chunk-based variants the units of `room` are the capacity of the ring.
  struct State {
    alignas(128) std::uint32_t next_fresh;
    BulkSemaphore::State returned;  // chunks in the ring
    BulkSemaphore::State room;      // chunks that the ring can still hold
    alignas(128) std::uint32_t front;
    alignas(128) std::uint32_t back;
  };

  State* state = nullptr;
  std::uint32_t* ring = nullptr;
  std::uint32_t ring_mask = 0;
  std::uint32_t chunk_count = 0;

  template <class Thread>
  SIMT_FN bool exhausted(Thread& thread) const {
    return thread.atomic(state->next_fresh).load(simt::relaxed) >= chunk_count &&
           BulkSemaphore{&state->returned}.available(thread) <= 0;
  }

  // Takes one returned chunk, or, if there is none, up to `wanted` fresh chunks with consecutive indices. Sets `first`
  // to the first index. Returns the number of taken chunks, or 0 if none is left.
  template <class Thread>
  SIMT_FN std::uint32_t take(Thread& thread, std::uint32_t wanted, std::uint32_t& first) const {
    if (BulkSemaphore{&state->returned}.take_if_any(thread, 1) != 0) {
      const std::uint32_t position = thread.atomic(state->front).fetch_add(1u, simt::relaxed);
      first = take_from(thread, ring[position & ring_mask]);
      BulkSemaphore{&state->room}.signal(thread, 1);
      return 1;
    }
    // Without the load, refused threads would advance the counter until it overflows.
    const auto fresh = thread.atomic(state->next_fresh);
    if (fresh.load(simt::relaxed) >= chunk_count) return 0;
    first = fresh.fetch_add(wanted, simt::relaxed);
    if (first >= chunk_count) return 0;
    return wanted < chunk_count - first ? wanted : chunk_count - first;
  }

  // Reserves room for one chunk in the ring. Returns false if there is no room. give() uses the room, and refuse_room()
  // returns it.
  template <class Thread>
  SIMT_FN bool reserve_room(Thread& thread) const {
    return BulkSemaphore{&state->room}.take_if_any(thread, 1) != 0;
  }
  template <class Thread>
  SIMT_FN void refuse_room(Thread& thread) const {
    BulkSemaphore{&state->room}.signal(thread, 1);
  }
  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint32_t chunk) const {
    BulkSemaphore{&state->returned}.signal(thread, 1);
    const std::uint32_t position = thread.atomic(state->back).fetch_add(1u, simt::relaxed);
    put_into(thread, ring[position & ring_mask], chunk);
  }
};

}  // namespace allocbench::ouroboros
