// Ouroboros serves pages from index queues whose storage comes from the memory that they manage. This is the published
// form.
//
// Paper: Winter, Mlakar, Parger & Steinberger, Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs, ICS
// 2020; measured again by Winter et al., PPoPP 2021, and by Pham et al. 2025 (sections 2.2 and 5). The facts come from
// these papers and from the behaviour of the authors' code.
//
// Idea:
// * malloc: A request is rounded up to a page of 16 << i bytes. The lanes of a warp that request the class together
//   take their pages from a bulk semaphore by one operation (packed_semaphore.hpp). If the semaphore has too few pages,
//   their leader makes the pages of a chunk, or waits for pages of other groups. Then the queue provides the pages.
// * free: Each lane puts its page back into the queue, or sets the page's bit in the mask of the chunk. It also signals
//   the semaphore.
// * Six variants: The queue holds pages (page_queue.hpp) or chunks with free pages (chunk_queue.hpp). The queue is a
//   flat ring (ring_queue.hpp), or it lies in chunks that an array (array_queue.hpp) or links (list_queue.hpp) find.
//
// Data: headed_chunks.hpp describes the pool. The words of the classes lie outside the pool.
//
// Requests larger than a chunk are rounded up to a power of two and go to the back end's device heap.
//
// Differs from the paper:
// * If the memory is exhausted, the lanes for which nothing is left get null. The authors' code writes chunks beyond
//   the pool (headed_chunks.hpp, packed_semaphore.hpp).
// * Slot and mask accesses release and acquire at device scope. The authors' code has some fences of block scope.
// * The lanes of a group stay together by one mask, which they form when they enter malloc. A waiting lane requests at
//   most 1.3 us of sleep between two checks.
// * Linked queues and walks notice storage that was reused (list_queue.hpp, chunk_queue.hpp).
// * A table keeps the blocks of the device heap, so that reset() frees them (device_heap_share.hpp).
// * By default, flat rings in pools below 2.5 GiB are only as large as the pool needs (parameters.hpp).
// * The counter of calls is off (`statistics`); the published measurements include it.
// * Addresses and sizes of queues are parameters of the kernel. In the authors' code they are next to the counters that
//   all lanes change. This probably explains why some mallocs and frees are faster than the authors'
//   (results/reference/h200/originals.md), but no measurement shows it.
//
// As published: The semaphore's count of free pages overflows at 2^24 free pages of a class. If a flat ring or a
// directory has no room for all free pages of a class, frees wait (free_pages.hpp computes the limits and sufficient
// constants). Pages of P never leave their class. Chunks of C leave it only in C-S, if a queue has more than 838,860
// chunks (default of `release_above`). ABA: Queue positions have 32 bits and repeat after 2^32 operations on a class.
#pragma once

#include <bit>

#include "allocators/ouroboros/published/free_pages.hpp"
#include "allocators/ouroboros/published/inspect.hpp"
#include "allocators/support/common/device_heap_share.hpp"

namespace allocbench::ouroboros::published {

// Takes pages on the slow path of a malloc. The function is not inlined, so that the fast path keeps its registers.
// `heap` lies in device memory.
template <class Policy, class Thread>
SIMT_NOINLINE_FN std::uint32_t take_slowly(Thread& thread, const Policy& heap, std::uint32_t id, std::uint32_t wanted,
                                           std::uint64_t seen) {
  return heap.free_pages(id).take(thread, wanted, 1u << heap.chunks.pages_log(id), seen,
                                  [&] { return heap.make_pages(thread, id); });
}

template <class Policy>
class OuroborosOf {
 public:
  using Parameters = published::Parameters;

  static std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters& parameters) {
    return static_cast<std::size_t>(static_cast<double>(pool_bytes) * parameters.device_heap_share);
  }
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    const std::size_t large = largest_in_device_heap(device_heap_bytes(pool_bytes, parameters));
    return std::max<std::size_t>(parameters.chunk_bytes, std::bit_floor(large));
  }
  static std::string why_too_many_free(std::size_t pool_bytes, const Parameters& parameters, std::size_t bytes,
                                       double free_share) {
    return published::why_too_many_free<Policy>(pool_bytes - device_heap_bytes(pool_bytes, parameters), parameters,
                                                bytes, free_share);
  }
  // A chunk has four pages of 16 bytes, a queue chunk has 16 slots, and there are three classes. Here pages never leave
  // their class. So after blocks of one size have filled the heap, requests of another size may always get null.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.chunk_bytes = 64;
    parameters.ring_capacity = 256;
    parameters.directory_capacity = 32;
    parameters.reuse_capacity = 32;
    parameters.held_back = 1;
    parameters.device_heap_share = 0;
    return {.pool_bytes = 6144, .parameters = parameters, .serves_other_sizes = 0};
  }

  void reset(simt::Stream& stream) {
    reset_heap(stream, heap_);
    large_blocks_.reset(stream);
    if (calls_ != nullptr) simt::device_fill(stream, calls_, 0, sizeof *calls_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    count_call(thread);
    if (bytes > std::size_t{1} << heap_.chunks.chunk_log) return malloc_large(thread, bytes);
    const std::uint32_t id = log2_of(static_cast<std::uint32_t>(bytes), 4) - 4;
    const auto group = thread.converged().match_any(id);
    const std::uint32_t wanted = group.num_threads();
    std::uint32_t granted = wanted;
    std::uint32_t first = 0;
    if (group.leader()) {
      std::uint64_t seen;
      if (!heap_.free_pages(id).take_at_once(thread, wanted, seen)) {
        granted = take_slowly(thread, *heap_on_device_, id, wanted, seen);
      }
      if (granted != 0) first = heap_.number_takes(thread, id, granted);
    }
    granted = group.broadcast(granted);
    first = group.broadcast(first);
    if (granted == wanted) return heap_.serve(thread, group, id, first);
    const bool served = group.thread_rank() < granted;
    const auto alike = group.partition(served);
    return served ? heap_.serve(thread, alike, id, first) : nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    count_call(thread);
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - heap_.chunks.base);
    if (offset >= heap_.chunks.bytes()) {  // the offset is huge for addresses below the pool
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
    const std::size_t share = device_heap_bytes(arena.pool_bytes(), parameters);
    allocator.heap_ = lay_out_heap<Policy>(arena.pool(arena.pool_bytes() - share), parameters, arena, name);
    allocator.large_blocks_ = DeviceHeapShare::create(arena, share, parameters.chunk_bytes);
    allocator.heap_on_device_ = arena.metadata<Policy>(1);
    if (parameters.statistics) allocator.calls_ = arena.metadata<std::uint64_t>(1);
    simt::copy_to_device(arena.stream(), allocator.heap_on_device_, &allocator.heap_, sizeof allocator.heap_);
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  template <class Thread>
  SIMT_FN void count_call(Thread& thread) const {
    if (calls_ != nullptr) thread.atomic(*calls_).fetch_add(std::uint64_t{1}, simt::relaxed);
  }

  template <class Thread>
  SIMT_FN void* malloc_large(Thread& thread, std::size_t bytes) const {
    std::size_t rounded = std::size_t{2} << heap_.chunks.chunk_log;
    while (rounded < bytes && rounded != 0) rounded *= 2;
    return rounded == 0 ? nullptr : large_blocks_.malloc(thread, rounded);
  }

  Policy heap_;
  Policy* heap_on_device_ = nullptr;  // copy of heap_ in device memory, for functions that are not inlined
  DeviceHeapShare large_blocks_;
  std::uint64_t* calls_ = nullptr;
};

}  // namespace allocbench::ouroboros::published
