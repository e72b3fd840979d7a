// Heap is the common part of the page-based and the chunk-based heap of the published form: the classes and the way in
// which a class gets a chunk.
#pragma once

#include "allocators/ouroboros/published/array_queue.hpp"
#include "allocators/ouroboros/published/list_queue.hpp"

namespace allocbench::ouroboros::published {

template <class QueueKind>
struct Heap {
  using Queue = QueueKind;
  // The words of a class are adjacent, as in the authors' queue objects.
  struct ClassState {
    std::uint64_t free_pages;  // semaphore of the free pages (packed_semaphore.hpp)
    std::uint32_t front;       // queue position of the next take
    std::uint32_t back;        // queue position of the next put
    std::uint32_t chunks;      // chunks in the queue (chunk-based variants)
    std::uint32_t owned;       // indices that may come into the queue (virtualised queues)
    typename Queue::Ends ends;
  };

  HeadedChunks chunks;
  Queue queue;
  ClassState* classes = nullptr;
  std::uint32_t release_above = 0;

  SIMT_FN PackedSemaphore free_pages(std::uint32_t id) const { return {&classes[id].free_pages}; }

  // Takes a chunk for pages of a class, whose queue gets `indices` more indices. Returns false if too few chunks are
  // left.
  template <class Thread>
  SIMT_FN bool take_chunk(Thread& thread, std::uint32_t id, std::uint32_t indices, std::uint32_t& chunk) const {
    if constexpr (Queue::virtualised) {
      if (!chunks.commit(thread, classes[id].owned, indices)) return false;
      chunk = chunks.take_for_queue(thread);
      return true;
    } else {
      return chunks.take(thread, chunk);
    }
  }

  template <class Thread>
  SIMT_FN void set_pages(Thread& thread, std::uint32_t chunk, std::uint32_t id) const {
    ChunkHeader& header = chunks.header(chunk);
    thread.atomic(header.page_bytes).store(16u << id, simt::relaxed);
    thread.atomic(header.pages).store(1u << chunks.pages_log(id), simt::relaxed);
  }

  // Returns the class of the pages of a chunk.
  template <class Thread>
  SIMT_FN std::uint32_t class_of_chunk(Thread& thread, std::uint32_t chunk) const {
    return simt::count_trailing_zeros(thread.atomic(chunks.header(chunk).page_bytes).load(simt::relaxed)) - 4;
  }
  SIMT_FN std::uint32_t page_of(std::uint32_t chunk, std::size_t offset, std::uint32_t id) const {
    return static_cast<std::uint32_t>(offset - std::size_t{chunk} * chunks.stride - header_bytes) >> (id + 4);
  }
};

}  // namespace allocbench::ouroboros::published
