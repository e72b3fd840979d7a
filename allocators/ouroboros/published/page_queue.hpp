// In the published page-based Ouroboros, the queue of a size class holds its free pages as indices (chunk << 9 | page).
//
// A malloc takes a unit of the semaphore, a queue position at the front, and the index in the slot of that position.
// The lanes of a warp that request the class together share one addition for the units and one for the positions. A
// free signals the semaphore by an addition of its own, takes a queue position at the back together with other lanes,
// and puts the index. With a linked list, it signals last. All pages of a new chunk pass through the queue. The lane
// that takes the chunk puts them into the queue.
#pragma once

#include "allocators/ouroboros/published/heap.hpp"

namespace allocbench::ouroboros::published {

template <class QueueKind>
struct PageQueueHeap : Heap<QueueKind> {
  using Queue = QueueKind;
  using Heap<Queue>::chunks;
  using Heap<Queue>::classes;
  using Heap<Queue>::queue;
  static constexpr bool chunk_based = false;

  // Returns the largest number of chunks. Indices are 32-bit words, and one value means "none".
  std::uint64_t most_chunks() const { return empty_slot >> chunks.pages_log(0); }
  std::uint64_t most_indices(std::uint32_t id) const {
    return std::uint64_t{chunks.chunk_count} << chunks.pages_log(id);
  }

  // Returns the first of `count` consecutive queue positions for takes.
  template <class Thread>
  SIMT_FN std::uint32_t number_takes(Thread& thread, std::uint32_t id, std::uint32_t count) const {
    return thread.atomic(classes[id].front).fetch_add(count, simt::relaxed);
  }

  // Serves a lane that holds a unit. `group` contains the lanes that hold a unit, and `first` is the queue position of
  // the first of these lanes.
  template <class Thread, class Group>
  SIMT_FN void* serve(Thread& thread, const Group& group, std::uint32_t id, std::uint32_t first) const {
    const std::uint32_t index = queue.take(thread, group, chunks, classes[id].ends, id, first + group.thread_rank());
    const std::uint32_t log = chunks.pages_log(0);
    return chunks.page(index >> log, index & ((1u << log) - 1), id);
  }

  // Makes the announced pages of one chunk. Returns false if there is no chunk.
  template <class Thread>
  SIMT_FN bool make_pages(Thread& thread, std::uint32_t id) const {
    const std::uint32_t pages = 1u << chunks.pages_log(id);
    std::uint32_t chunk;
    if (!this->take_chunk(thread, id, pages, chunk)) return false;
    this->set_pages(thread, chunk, id);
    if (Queue::signals_first) this->free_pages(id).signal_expected(thread, pages);
    const std::uint32_t number = thread.atomic(classes[id].back).fetch_add(pages, simt::relaxed);
    queue.put_run(thread, chunks, classes[id].ends, id, number, pages, chunk << chunks.pages_log(0));
    if (!Queue::signals_first) this->free_pages(id).signal_expected(thread, pages);
    return true;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::size_t offset) const {
    const std::uint32_t chunk = chunks.chunk_of(thread, offset);
    const std::uint32_t id = this->class_of_chunk(thread, chunk);
    const std::uint32_t index = chunk << chunks.pages_log(0) | this->page_of(chunk, offset, id);
    if (Queue::signals_first) this->free_pages(id).signal(thread, 1);
    const auto group = thread.converged().match_any(id);
    std::uint32_t number = 0;
    if (group.leader()) number = thread.atomic(classes[id].back).fetch_add(group.num_threads(), simt::relaxed);
    number = group.broadcast(number) + group.thread_rank();
    queue.put(thread, group, chunks, classes[id].ends, id, number, index);
    if (!Queue::signals_first) this->free_pages(id).signal(thread, 1);
  }
};

}  // namespace allocbench::ouroboros::published
