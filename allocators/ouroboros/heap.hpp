// Heap is the common part of page-based and chunk-based Ouroboros: one pool, and for each class a bulk semaphore and an
// index queue.
#pragma once

#include "allocators/ouroboros/flat_ring.hpp"

namespace allocbench::ouroboros {

template <class Storage>
struct Heap {
  // ClassState is the state of one class. All bytes are zero at first, unless the storage documents other values.
  struct ClassState {
    BulkSemaphore::State free_pages;
    alignas(128) std::uint32_t front;  // queue position of the next take
    alignas(128) std::uint32_t back;   // queue position of the next put
    typename Storage::ClassState storage;
  };

  ChunkSpace space;
  Storage storage;
  ClassState* classes = nullptr;

  SIMT_FN BulkSemaphore free_pages(std::uint32_t id) const { return {&classes[id].free_pages}; }

  // Returns the first of `count` consecutive queue positions for takes. Callers must hold at least one unit per
  // position and must consume every position.
  template <class Thread>
  SIMT_FN std::uint32_t number_takes(Thread& thread, std::uint32_t id, std::uint32_t count) const {
    return thread.atomic(classes[id].front).fetch_add(count, simt::relaxed);
  }
  template <class Thread>
  SIMT_FN std::uint32_t number_puts(Thread& thread, std::uint32_t id, std::uint32_t count) const {
    return thread.atomic(classes[id].back).fetch_add(count, simt::relaxed);
  }
  template <QueueEnd end, class Thread>
  SIMT_FN typename Storage::Place place(Thread& thread, std::uint32_t id, std::uint32_t number) const {
    return storage.template place<end>(thread, space, classes[id].storage, id, number);
  }

  // Takes up to `wanted` chunks with consecutive indices, but only as many as the queue has room for. Each chunk needs
  // room for `per_chunk` entries. Sets `first` to the first chunk. Returns the number of taken chunks.
  template <class Thread>
  SIMT_FN std::uint32_t take_chunks(Thread& thread, std::uint32_t id, std::uint32_t wanted, std::uint32_t per_chunk,
                                    std::uint32_t& first) const {
    if (space.pool.exhausted(thread)) return 0;
    auto& state = classes[id].storage;
    const std::uint32_t covered = storage.cover(thread, space, state, id, wanted, per_chunk);
    if (covered == 0) return 0;
    const std::uint32_t got = space.pool.take(thread, covered, first);
    if (got != covered) storage.uncover(thread, state, std::uint64_t{covered - got} * per_chunk);
    return got;
  }
};

}  // namespace allocbench::ouroboros
