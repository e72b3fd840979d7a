// The reworked Ouroboros serves pages from index queues whose storage comes from the memory that they manage.
// published/published.hpp has the published form.
//
// Paper: Winter, Mlakar, Parger & Steinberger, Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs, ICS
// 2020; measured again by Winter et al., PPoPP 2021, and by Pham et al. 2025 (sections 2.2 and 5).
//
// Idea:
// * malloc: A request is rounded up to a page of 16 << i bytes. In one operation, a bulk semaphore per size grants
//   pages to all lanes of a warp that request this size, and the queue of the size provides them. If the semaphore has
//   too few pages, the lanes divide new chunks into pages, or wait for pages of other warps.
// * free: A lane returns its page to the queue (P), or sets the page's bit in the mask of the chunk (C). A free also
//   signals the semaphore.
// * Six variants: The queue holds pages (P, page_heap.hpp) or chunks with free pages (C, chunk_heap.hpp). The queue is
//   a flat ring (S, flat_ring.hpp), or it lies in chunks that an array (VA, array_hierarchy.hpp) or links (VL,
//   linked_list.hpp) find.
//
// Data: The pool contains the chunks, and behind them the header words, the tables of the storage and the variant, and
// the ring of returned chunks (layout.hpp). The state of the classes (semaphores and ends of the queues) and the
// counters of unused chunks lie outside the pool.
//
// As published, requests larger than a chunk go to the back end's device heap. In this form, that heap has a share of
// the memory (device_heap_share.hpp). The published code gives it 500 MiB and rounds each request up to a power of two.
//
// Differs from the published form:
// * A free signals the semaphore of a class once for all lanes of a warp that free a page of this class. In the
//   originals each lane signals, and all signals meet on one word.
// * In C, a warp takes the pages for its lanes from a chunk in one step, while no other warp holds the chunk. Groups of
//   lanes that would wait for one chunk can get new chunks, as long as more than half of the chunks were never used
//   (chunk_heap.hpp). In the originals each lane searches the queue separately.
// * Linked lists remember the places of recent segments (linked_list.hpp), so lanes find these without a walk. In the
//   originals lanes walk to their segment.
// * The semaphore has two words (bulk_semaphore.hpp), so its counts do not overflow. The lanes of a malloc get the
//   available pages immediately, even if these are enough for only some of the lanes.
// * Lanes that find no page take pages directly from new chunks. One step can take several fresh chunks (refill.hpp).
// * Queues cannot overflow, and a free never needs memory (flat_ring.hpp, segmented_queue.hpp).
// * Chunk headers are in a table, and each page begins at a multiple of its size from the start of the pool
//   (chunk_space.hpp).
// * If the memory is exhausted, malloc returns null. Accesses to slots acquire and release at device scope.
//
// ABA: Queue positions have 32 bits, so queue positions and segment numbers repeat after 2^32 operations on a class.
// Other compared words, such as slots and counters of indices, may return to an old value. Then the exchange is correct
// too, because it depends only on the present value.
#pragma once

#include "allocators/ouroboros/inspect.hpp"
#include "allocators/ouroboros/layout.hpp"
#include "allocators/ouroboros/refill.hpp"
#include "allocators/support/common/device_heap_share.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::ouroboros {

template <class Policy>
class OuroborosOf {
 public:
  using Parameters = ouroboros::Parameters;

  static std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters& parameters) {
    return static_cast<std::size_t>(static_cast<double>(pool_bytes) * parameters.device_heap_share);
  }
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return std::max<std::size_t>(parameters.chunk_bytes,
                                 largest_in_device_heap(device_heap_bytes(pool_bytes, parameters)));
  }
  // A chunk has four pages of 16 bytes, a queue chunk has 16 slots, and there are three classes. After blocks of one
  // size have filled the heap, requests of another size may always get null: In P, pages never leave their class. C
  // returns a free chunk only if the lane that frees the chunk's last page can take units for all pages of the chunk.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.chunk_bytes = 64;
    parameters.ring_capacity = 64;
    parameters.directory_capacity = 32;
    parameters.reuse_capacity = 4;
    parameters.release_above = 0;
    parameters.crowd = 0;
    parameters.device_heap_share = 0;
    return {.pool_bytes = 4096, .parameters = parameters, .serves_other_sizes = 0, .serves_new = 64};
  }
  // In this heap, half of the memory is a device heap for larger requests.
  static SmallHeap<Parameters> second_small_heap() {
    auto heap = small_heap();
    heap.parameters.device_heap_share = 0.5;
    heap.serves_new = 28;
    return heap;
  }

  void reset(simt::Stream& stream) {
    reset_heap(stream, heap_);
    large_blocks_.reset(stream);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes > std::size_t{1} << heap_.space.chunk_log) return large_blocks_.malloc(thread, bytes);
    const std::uint32_t id = class_of(static_cast<std::uint32_t>(bytes));
    const auto group = thread.converged().match_any(id);
    const std::uint32_t lanes = group.num_threads();
    std::uint32_t granted = 0;
    std::uint32_t first = 0;
    bool crowded = false;
    [[maybe_unused]] Traffic seen{};
    if (group.leader()) {
      if constexpr (Policy::chunk_based) seen = heap_.traffic(thread, id);
      granted = heap_.free_pages(id).take(thread, lanes);
      if constexpr (Policy::chunk_based) crowded = granted != 0 && heap_.is_crowded(id, lanes, seen);
    }
    granted = group.broadcast(granted);
    if constexpr (Policy::chunk_based) {
      if (group.any(crowded)) {
        const std::uint32_t chunk = chunk_for_crowd(thread, *heap_on_device_, group, id, lanes);
        if (chunk != no_chunk) {
          if (group.leader()) heap_.free_pages(id).signal(thread, granted);
          return heap_.space.page(chunk, group.thread_rank(), id);
        }
      }
    }
    if (group.leader() && granted != 0) {
      first = heap_.number_takes_of(thread, id, granted);
      // Groups that come at the same moment do not see each other, but their queue positions show how many came
      // earlier.
      if constexpr (Policy::chunk_based) {
        crowded = heap_.is_crowded(id, lanes, heap_.traffic_at(thread, id, first, seen));
      }
    }
    first = group.broadcast(first);
    if constexpr (Policy::chunk_based) crowded = group.any(crowded);
    const bool served = group.thread_rank() < granted;
    const auto alike = group.partition(served);
    if (!served) return refill(thread, *heap_on_device_, id);
    void* const page = heap_.serve(thread, alike, id, first);
    if constexpr (Policy::chunk_based) {
      if (crowded) chunk_for_crowd(thread, *heap_on_device_, alike, id, 0);
    }
    return page;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - heap_.space.base);
    // The offset is huge for addresses below the pool.
    if (offset >> heap_.space.chunk_log >= heap_.space.pool.chunk_count) {
      large_blocks_.free(thread, block);
      return;
    }
    heap_.free(thread, offset);
  }

  std::string broken_invariant(simt::Stream& stream) const { return broken_heap(stream, heap_); }

  const Policy& heap() const { return heap_; }

 protected:
  static OuroborosOf lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    OuroborosOf allocator;
    const Pool pool = arena.pool(arena.pool_bytes() - device_heap_bytes(arena.pool_bytes(), parameters));
    allocator.heap_ = lay_out_heap<Policy>(pool, parameters, arena, name);
    allocator.large_blocks_ =
        DeviceHeapShare::create(arena, device_heap_bytes(arena.pool_bytes(), parameters), parameters.chunk_bytes);
    allocator.heap_on_device_ = arena.metadata<Policy>(1);
    simt::copy_to_device(arena.stream(), allocator.heap_on_device_, &allocator.heap_, sizeof allocator.heap_);
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  Policy heap_;
  Policy* heap_on_device_ = nullptr;  // copy of heap_ in device memory, for functions that are not inlined
  DeviceHeapShare large_blocks_;
};

}  // namespace allocbench::ouroboros
