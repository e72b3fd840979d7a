// These host functions lay out the pool of the published Ouroboros and reset it. Only InitialiseHeap is a kernel.
//
// Virtualised queues need chunks whose slots are empty, so all chunks are first filled with the empty mark. A queue
// chunk that returns to the pool is empty again. With these queues, chunks of pages never return.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "allocators/ouroboros/published/carver.hpp"
#include "allocators/ouroboros/published/chunk_queue.hpp"
#include "allocators/ouroboros/published/page_queue.hpp"
#include "allocators/ouroboros/published/parameters.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::ouroboros::published {

template <class Policy>
void lay_out_queue(RingQueue& queue, const Policy& heap, std::uint64_t pool_bytes, const Parameters& parameters,
                   Carver& carver) {
  const std::uint32_t classes = heap.chunks.class_count();
  queue.log = log_up(parameters.ring_capacity);
  queue.halves = false;
  if (classes * parameters.ring_capacity * sizeof(std::uint32_t) > pool_bytes / 8) {
    // A slow lane may still use the old place of a chunk that is returned and reused. With at least eight slots per
    // chunk, the place is not reused soon.
    const std::uint32_t spare = Policy::chunk_based ? 3 : 0;
    queue.log = std::max(std::min(queue.log, log_up(heap.most_indices(0)) + spare), classes);
    queue.halves = !Policy::chunk_based && heap.most_indices(0) <= std::uint64_t{1} << queue.log;
  }
  queue.slots = carver.take<std::uint32_t>(queue.begin(classes));
}
template <class Policy>
void lay_out_queue(ArrayQueue& queue, const Policy& heap, std::uint64_t, const Parameters& parameters, Carver& carver) {
  queue.directory_log = log_up(parameters.directory_capacity);
  queue.directory = carver.take<std::uint32_t>(std::uint64_t{heap.chunks.class_count()} << queue.directory_log);
}
template <class Policy>
void lay_out_queue(ListQueue& queue, const Policy&, std::uint64_t, const Parameters& parameters, Carver&) {
  queue.held_back = parameters.held_back;
}

template <class Policy>
void lay_out_tables(Policy& heap, std::uint64_t pool_bytes, const Parameters& parameters, Carver& carver) {
  lay_out_queue(heap.queue, heap, pool_bytes, parameters, carver);
  heap.chunks.reuse_ring = carver.take<std::uint32_t>(heap.chunks.reuse_capacity);
  heap.chunks.start_flags = carver.take<std::uint32_t>(std::uint64_t{heap.chunks.chunk_count} / 32 + 1);
}

// Returns how many chunks the queues of idle classes may need. A class needs the segments at both ends, the one that is
// made in advance, and those that are held back.
template <class Policy>
std::uint32_t reserved_chunks(const Policy& heap) {
  if constexpr (requires { heap.queue.held_back; }) return heap.chunks.class_count() * (3 + heap.queue.held_back);
  return Policy::Queue::virtualised ? heap.chunks.class_count() * 3 : 0;
}

// Plans a heap, still without addresses, with as many chunks as fit beside their tables. Error messages begin with
// `name`.
template <class Policy>
Policy planned_heap(std::size_t pool_bytes, const Parameters& parameters, std::string_view name) {
  Policy heap;
  HeadedChunks& chunks = heap.chunks;
  chunks.chunk_log = log_up(parameters.chunk_bytes);
  chunks.stride = static_cast<std::uint32_t>(parameters.chunk_bytes) + header_bytes;
  chunks.stride_units = Modulo(chunks.stride / 64);
  chunks.reuse_capacity = static_cast<std::uint32_t>(parameters.reuse_capacity);
  heap.release_above = parameters.release_above;
  const auto fits = [&](std::uint64_t count) {
    chunks.chunk_count = static_cast<std::uint32_t>(count);
    Carver measure(nullptr);
    lay_out_tables(heap, pool_bytes, parameters, measure);
    return chunks.bytes() + 128 + measure.used() <= pool_bytes;
  };
  const std::uint64_t most = std::min<std::uint64_t>(pool_bytes / chunks.stride, gone - 1);
  const std::uint64_t count = largest_that_fits(most, fits);
  const std::uint32_t least = reserved_chunks(heap) + 1 + (Policy::Queue::virtualised ? 1 : 0);
  if (count < least) {
    throw Unsupported(std::string(name) + " needs a larger pool for " + std::to_string(chunks.class_count()) +
                      " classes with chunks of " + std::to_string(parameters.chunk_bytes) + " bytes and their queues");
  }
  if (chunks.chunk_count > heap.most_chunks()) {
    throw Unsupported(std::string(name) + " numbers at most " + std::to_string(heap.most_chunks()) +
                      " chunks; this pool has room for " + std::to_string(chunks.chunk_count));
  }
  return heap;
}

// Plans a heap with planned_heap() and places it in the pool.
template <class Policy>
Policy lay_out_heap(const Pool& pool, const Parameters& parameters, Arena& arena, std::string_view name) {
  Policy heap = planned_heap<Policy>(pool.bytes, parameters, name);
  HeadedChunks& chunks = heap.chunks;
  // reset_heap() fills the whole pool. On the CPU back end, the machine must have memory for all of it.
  constexpr std::size_t most_bytes_filled = std::size_t{4} << 30;
  if (!SIMT_CUDA && Policy::Queue::virtualised && pool.bytes > most_bytes_filled) {
    throw Unsupported(std::string(name) + " fills its whole pool at first; on the CPU back end it serves pools up to " +
                      std::to_string(most_bytes_filled) + " bytes");
  }
  chunks.base = pool.base;
  Carver carver(pool.base + simt::round_up<std::uint64_t>(chunks.bytes(), 128));
  lay_out_tables(heap, pool.bytes, parameters, carver);
  chunks.control = arena.metadata<HeadedChunks::Control>(1);
  heap.classes = arena.metadata<typename Policy::ClassState>(chunks.class_count());
  return heap;
}

// Writes the words of a fresh heap that are neither all zeros nor all ones. One thread serves one class.
struct InitialiseHeap {
  template <class Thread, class Policy>
  SIMT_FN void operator()(Thread& thread, Policy heap, std::uint32_t reserved) const {
    const HeadedChunks& chunks = heap.chunks;
    const std::uint32_t id = thread.rank_in_grid();
    if (id >= chunks.class_count()) return;
    thread.atomic(heap.classes[id].free_pages).store(PackedSemaphore::none, simt::relaxed);
    if constexpr (Policy::Queue::virtualised) {
      thread.atomic(chunks.start_flags[0]).fetch_or(1u << id, simt::relaxed);
      heap.queue.initialise(thread, chunks, heap.classes[id].ends, id, id);
      if (id != 0) return;
      thread.atomic(chunks.control->next_fresh).store(chunks.class_count(), simt::relaxed);
      thread.atomic(chunks.control->committed).store(reserved, simt::relaxed);
    }
  }
};

// Makes the heap fresh. May return before the stream has finished.
template <class Policy>
void reset_heap(simt::Stream& stream, const Policy& heap) {
  const HeadedChunks& chunks = heap.chunks;
  simt::device_fill(stream, chunks.control, 0, sizeof *chunks.control);
  simt::device_fill(stream, heap.classes, 0, chunks.class_count() * sizeof *heap.classes);
  simt::device_fill(stream, chunks.reuse_ring, 0xff, chunks.reuse_capacity * sizeof(std::uint32_t));
  simt::device_fill(stream, chunks.start_flags, 0, (chunks.chunk_count / 32 + 1) * sizeof(std::uint32_t));
  if constexpr (Policy::Queue::virtualised) {
    simt::device_fill(stream, chunks.base, 0xff, chunks.bytes());
    if constexpr (requires { heap.queue.directory; }) {
      const std::size_t entries = std::size_t{chunks.class_count()} << heap.queue.directory_log;
      simt::device_fill(stream, heap.queue.directory, 0xff, entries * sizeof(std::uint32_t));
    }
  } else {
    simt::device_fill(stream, heap.queue.slots, 0xff, heap.queue.begin(chunks.class_count()) * sizeof(std::uint32_t));
  }
  simt::launch(stream, {1, 32}, InitialiseHeap{}, heap, reserved_chunks(heap));
}

}  // namespace allocbench::ouroboros::published
