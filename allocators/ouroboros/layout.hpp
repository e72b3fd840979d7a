// These host functions lay out the pool of the reworked Ouroboros and reset it. Only InitialiseHeap is a kernel.
//
//   [ chunk 0, chunk 1, ... | headers | tables of the storage | tables of the variant | ring of returned chunks ]
//
// The tables of the storage are flat rings (S), arrays (VA) or nodes (VL). Only chunk-based variants have tables of the
// variant: bit masks and queue slots. All these tables are part of the pool, so that measurements of memory include the
// queues.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "allocators/ouroboros/array_hierarchy.hpp"
#include "allocators/ouroboros/chunk_heap.hpp"
#include "allocators/ouroboros/linked_list.hpp"
#include "allocators/ouroboros/page_heap.hpp"
#include "allocators/ouroboros/parameters.hpp"
#include "allocators/ouroboros/published/carver.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::ouroboros {

// Returns the number of queue entries that class 0 has if it owns the whole pool. No class has more.
template <class Policy>
std::uint64_t most_entries(const Policy& heap) {
  const std::uint64_t chunks = heap.space.pool.chunk_count;
  return Policy::chunk_based ? chunks : chunks << heap.space.pages_log(0);
}

template <class Policy>
void lay_out_storage(FlatRing& ring, const Policy& heap, std::uint64_t pool_bytes, const Parameters& parameters,
                     Carver& carver) {
  const std::uint32_t full_log = log_up(most_entries(heap));
  // A class gets no chunk unless its ring can hold all indices of the chunk.
  const std::uint64_t per_chunk = Policy::chunk_based ? 1 : std::uint64_t{1} << heap.space.pages_log(0);
  const std::uint64_t bound = parameters.ring_capacity != 0
                                  ? parameters.ring_capacity
                                  : std::max({pool_bytes / 64 / 4, std::uint64_t{64}, per_chunk});
  ring.layout.log = std::min(full_log, log_up(bound));
  // In page-based variants, a class needs half as many entries as the class with pages of half the size.
  const std::uint32_t last_class = heap.space.class_count() - 1;
  ring.layout.whole_classes = Policy::chunk_based ? last_class : std::min(full_log - ring.layout.log, last_class);
  ring.slots = carver.take<std::uint32_t>(ring.layout.begin(heap.space.class_count()));
}

template <class Policy>
void lay_out_storage(SegmentedQueue<ArrayHierarchy>& queue, const Policy& heap, std::uint64_t,
                     const Parameters& parameters, Carver& carver) {
  const std::uint32_t slots_log = queue.slots_log(heap.space);
  const std::uint64_t needed = 2 * ((most_entries(heap) >> slots_log) + 2);
  RingLayout& layout = queue.order.layout;
  layout.log =
      log_up(parameters.directory_capacity != 0 ? std::max<std::uint64_t>(parameters.directory_capacity, 4) : needed);
  layout.log = std::min(layout.log, 32 - slots_log);  // segment numbers have no more bits
  layout.whole_classes = heap.space.class_count();
  queue.order.entries = carver.take<std::uint64_t>(layout.begin(heap.space.class_count()));
}

template <class Policy>
void lay_out_storage(SegmentedQueue<LinkedList>& queue, const Policy& heap, std::uint64_t, const Parameters&,
                     Carver& carver) {
  queue.order.nodes = carver.take<std::uint64_t>(heap.space.pool.chunk_count);
}

// Lays out all tables of a heap. The caller must set the size of a chunk and the number of chunks first.
template <class Policy>
void lay_out_tables(Policy& heap, std::uint64_t pool_bytes, const Parameters& parameters, Carver& carver) {
  ChunkPool& pool = heap.space.pool;
  heap.space.headers = carver.take<std::uint32_t>(pool.chunk_count);
  lay_out_storage(heap.storage, heap, pool_bytes, parameters, carver);
  std::uint32_t reuse_log = 0;  // pages never leave their class, so no chunk returns
  if constexpr (Policy::chunk_based) {
    heap.masks = carver.take<std::uint32_t>(std::uint64_t{pool.chunk_count} * heap.mask_words(0));
    heap.queue_slots = carver.take<std::uint64_t>(pool.chunk_count);
    heap.release_above = parameters.release_above;
    heap.crowd = parameters.crowd;
    reuse_log = log_up(std::min<std::uint64_t>(parameters.reuse_capacity, pool.chunk_count));
  }
  pool.ring = carver.take<std::uint32_t>(std::uint64_t{1} << reuse_log);
  pool.ring_mask = (1u << reuse_log) - 1;
}

// Returns the least number of chunks with which a heap serves a request of any class.
template <class Policy>
std::uint32_t least_chunks(const Policy& heap) {
  // A virtualised heap needs one queue chunk per class. A class that gets its first chunk of pages needs a second queue
  // chunk.
  return Policy::Storage::virtualised ? heap.space.class_count() + 2 : 1;
}

// Returns the number of chunks that are queue storage from the beginning.
template <class Policy>
std::uint32_t first_queue_chunks(const Policy& heap) {
  return Policy::Storage::virtualised ? heap.space.class_count() : 0;
}

// Makes a heap over the pool with as many chunks as fit beside their tables. Error messages begin with `name`.
template <class Policy>
Policy lay_out_heap(const Pool& pool, const Parameters& parameters, Arena& arena, std::string_view name) {
  Policy heap;
  ChunkSpace& space = heap.space;
  space.chunk_log = log_up(parameters.chunk_bytes);
  const auto fits = [&](std::uint64_t count) {
    space.pool.chunk_count = static_cast<std::uint32_t>(count);
    Carver measure(nullptr);
    lay_out_tables(heap, pool.bytes, parameters, measure);
    return (count << space.chunk_log) + 128 + measure.used() <= pool.bytes;
  };
  const std::uint64_t most = std::min<std::uint64_t>(pool.bytes >> space.chunk_log, 0xffffffffu);
  const std::uint64_t chunks = largest_that_fits(most, fits);
  if (chunks < least_chunks(heap)) {
    throw Unsupported(std::string(name) + " needs a larger pool for " + std::to_string(space.class_count()) +
                      " classes with chunks of " + std::to_string(parameters.chunk_bytes) + " bytes and their queues");
  }
  if (chunks > heap.most_chunks()) {
    throw Unsupported(std::string(name) + " numbers at most " + std::to_string(heap.most_chunks()) + " chunks, " +
                      std::to_string(heap.most_chunks() << space.chunk_log) +
                      " bytes of pages; this pool has room for " + std::to_string(chunks));
  }
  if constexpr (!Policy::chunk_based && !Policy::Storage::virtualised) {
    if (heap.storage.layout.capacity(0) < 1u << space.pages_log(0)) {
      throw Unsupported(std::string(name) + " needs a ring_capacity of at least the " +
                        std::to_string(1u << space.pages_log(0)) + " pages of a chunk");
    }
  }
  space.base = pool.base;
  Carver carver(pool.base + simt::round_up<std::uint64_t>(chunks << space.chunk_log, 128));
  lay_out_tables(heap, pool.bytes, parameters, carver);
  space.pool.state = arena.metadata<ChunkPool::State>(1);
  heap.classes = arena.metadata<typename Policy::ClassState>(space.class_count());
  return heap;
}

// Writes the words of a fresh heap that are neither all zeros nor all ones.
struct InitialiseHeap {
  template <class Thread, class Policy>
  SIMT_FN void operator()(Thread& thread, Policy heap) const {
    const std::uint32_t me = thread.rank_in_grid();
    if (me == 0) {
      const ChunkPool& pool = heap.space.pool;
      thread.atomic(pool.state->next_fresh)
          .store(Policy::Storage::virtualised ? heap.space.class_count() : 0, simt::relaxed);
      thread.atomic(pool.state->room.units).store(Policy::chunk_based ? pool.ring_mask + 1 : 0, simt::relaxed);
    }
    if constexpr (Policy::Storage::virtualised) {
      heap.storage.order.initialise(thread, me, thread.grid_size(), heap.space.class_count());
      for (std::uint32_t id = me; id < heap.space.class_count(); id += thread.grid_size()) {
        heap.storage.add_first_segment(thread, heap.space, heap.classes[id].storage, id, id);
      }
    }
  }
};

// Makes the heap fresh. May return before the stream has finished.
template <class Policy>
void reset_heap(simt::Stream& stream, const Policy& heap) {
  const ChunkSpace& space = heap.space;
  simt::device_fill(stream, space.pool.state, 0, sizeof *space.pool.state);
  simt::device_fill(stream, heap.classes, 0, space.class_count() * sizeof *heap.classes);
  simt::device_fill(stream, space.pool.ring, 0xff, (space.pool.ring_mask + std::size_t{1}) * sizeof(std::uint32_t));
  if constexpr (Policy::chunk_based) {
    simt::device_fill(stream, heap.queue_slots, 0xff, space.pool.chunk_count * sizeof *heap.queue_slots);
  }
  if constexpr (Policy::Storage::virtualised) {
    simt::device_fill(stream, space.base, 0xff, std::size_t{first_queue_chunks(heap)} << space.chunk_log);
  } else {
    simt::device_fill(stream, heap.storage.slots, 0xff,
                      heap.storage.layout.begin(space.class_count()) * sizeof(std::uint32_t));
  }
  constexpr std::uint32_t threads = 32;
  std::uint64_t entries = 0;
  if constexpr (requires { heap.storage.order.entries; }) {
    entries = heap.storage.order.layout.begin(space.class_count());
  }
  const auto blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(entries / (8 * threads), 1, 4096));
  simt::launch(stream, {blocks, threads}, InitialiseHeap{}, heap);
}

}  // namespace allocbench::ouroboros
