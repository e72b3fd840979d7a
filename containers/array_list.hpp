// ArrayList is a container for device code. It grows by blocks that any allocator of the suite provides.
//
// Paper: Spliet et al., GPGPU-7 2014, section 4.2.1 and figure 3 (the upper layer of KMA).
//
// Idea: The list is a queue of chunks, each with its number of elements. grow() appends elements of one thread. A whole
// block of threads calls grow_local(): a prefix sum adds up their requests, as in XMalloc, and one thread allocates for
// all. get(n) follows the chunks, and clear() frees them.
//
// Data: A root in device memory holds {first chunk, end of the queue}, and every chunk begins with a header {next,
// elements}.
//
// Protocol: An append exchanges the queue's end and then stores one link: in the chunk that the exchange returned or,
// if there is none, in the root. So an append never waits or retries. The link is stored with release, after the header
// of the new chunk, and read with acquire. Until the link is stored, get() cannot find the chunks behind it, although
// threads may already use their elements. Links are addresses. Only clear() frees chunks, so no address is reused
// before clear() (no ABA). As in the paper, no other thread may use the list during clear(). The elements have the
// order of the appends. Within grow_local() they have the order of the threads.
//
// The `allocator` argument is an allocator or a session (allocators/support/contract/session.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

template <class T>
class ArrayList {
 public:
  static_assert(alignof(T) <= 16, "allocators align to 16 bytes");

  // The root is in device memory. In an empty list all its bytes are zero.
  struct Root {
    std::uint64_t first;  // address of the first chunk; 0: none
    std::uint64_t last;   // address of the last chunk; 0: none
  };

  ArrayList() = default;
  explicit ArrayList(Root* root) : root_(root) {}

  // Returns the bytes of dynamic shared memory that a kernel with grow_local() needs.
  static constexpr std::size_t shared_bytes() { return sizeof(BlockScan); }

  // Returns the bytes that a chunk with this many elements requests from the allocator.
  static constexpr std::size_t chunk_bytes(std::size_t elements) { return sizeof(Chunk) + elements * sizeof(T); }

  // Appends `count` elements in a new chunk and returns the first one. Returns null if the allocator has no memory.
  template <class Thread, class A>
  SIMT_FN T* grow(Thread& thread, A& allocator, std::uint32_t count = 1) const {
    void* const chunk = allocator.malloc(thread, chunk_bytes(count));
    if (chunk == nullptr) return nullptr;
    append(thread, static_cast<Chunk*>(chunk), count);
    return elements(static_cast<Chunk*>(chunk));
  }

  // Appends `count` elements for this thread and returns the first one. All threads of the block must call this
  // function together, each with its own count. The elements of a thread are contiguous. Returns null to all threads if
  // the allocator has no memory, and to threads with a count of 0.
  template <class Thread, class A>
  SIMT_FN T* grow_local(Thread& thread, A& allocator, std::uint32_t count) const {
    BlockScan& scan = *thread.template shared<BlockScan>(1);
    const auto warp = thread.warp();
    const std::uint32_t before_in_warp = warp.exclusive_sum(count);
    const std::uint32_t of_warp = warp.reduce_add(count);
    const std::uint32_t own = thread.warp_in_block();
    if (thread.lane() == 0) scan.warp_elements[own] = of_warp;
    thread.block_barrier();
    if (thread.rank_in_block() == 0) {
      const std::uint32_t warps = (thread.block_size() + simt::warp_size - 1) / simt::warp_size;
      std::uint32_t total = 0;
      for (std::uint32_t w = 0; w < warps; ++w) {
        const std::uint32_t elements_of_w = scan.warp_elements[w];
        scan.warp_elements[w] = total;
        total += elements_of_w;
      }
      void* const chunk = total == 0 ? nullptr : allocator.malloc(thread, chunk_bytes(total));
      if (chunk != nullptr) append(thread, static_cast<Chunk*>(chunk), total);
      scan.chunk = static_cast<Chunk*>(chunk);
    }
    thread.block_barrier();
    Chunk* const chunk = scan.chunk;
    const std::uint32_t place = scan.warp_elements[own] + before_in_warp;
    thread.block_barrier();  // the next call writes `scan` again
    return chunk == nullptr || count == 0 ? nullptr : elements(chunk) + place;
  }

  // Returns the n-th element, or null if the list has no such element. The time is proportional to the number of chunks
  // that come before this element.
  template <class Thread>
  SIMT_FN T* get(Thread& thread, std::uint64_t n) const {
    for (Chunk* chunk = follow(thread, root_->first); chunk != nullptr; chunk = follow(thread, chunk->next)) {
      if (n < chunk->count) return elements(chunk) + n;
      n -= chunk->count;
    }
    return nullptr;
  }

  // Calls visit(first element, number of elements) for every chunk, in the order of the list.
  template <class Thread, class Visit>
  SIMT_FN void for_each_chunk(Thread& thread, Visit&& visit) const {
    for (Chunk* chunk = follow(thread, root_->first); chunk != nullptr; chunk = follow(thread, chunk->next)) {
      visit(elements(chunk), chunk->count);
    }
  }

  // Returns the number of elements in the list.
  template <class Thread>
  SIMT_FN std::uint64_t size(Thread& thread) const {
    std::uint64_t sum = 0;
    for_each_chunk(thread, [&sum](T*, std::uint64_t count) { sum += count; });
    return sum;
  }

  // Frees all chunks and makes the list empty. One thread calls clear(), and no other thread may use the list at the
  // same time.
  template <class Thread, class A>
  SIMT_FN void clear(Thread& thread, A& allocator) const {
    Chunk* chunk = follow(thread, root_->first);
    thread.atomic(root_->first).store(0, simt::relaxed);
    thread.atomic(root_->last).store(0, simt::relaxed);
    while (chunk != nullptr) {
      Chunk* const next = follow(thread, chunk->next);
      allocator.free(thread, chunk);
      chunk = next;
    }
  }

 private:
  struct alignas(16) Chunk {
    std::uint64_t next;   // address of the next chunk; 0: this is the last one
    std::uint64_t count;  // number of elements, written before the chunk is linked
  };
  struct BlockScan {
    std::uint32_t warp_elements[32];  // number of elements of each warp, then of all warps before it
    Chunk* chunk;
  };

  static SIMT_FN T* elements(Chunk* chunk) { return reinterpret_cast<T*>(chunk + 1); }

  template <class Thread>
  static SIMT_FN Chunk* follow(Thread& thread, std::uint64_t& link) {
    return reinterpret_cast<Chunk*>(thread.atomic(link).load(simt::acquire));
  }

  template <class Thread>
  SIMT_FN void append(Thread& thread, Chunk* chunk, std::uint64_t count) const {
    chunk->count = count;
    thread.atomic(chunk->next).store(0, simt::relaxed);
    // Acquires the header of the previous chunk, whose link is stored next, and releases the header of this chunk.
    const std::uint64_t before =
        thread.atomic(root_->last).exchange(reinterpret_cast<std::uint64_t>(chunk), simt::acq_rel);
    std::uint64_t& link = before == 0 ? root_->first : reinterpret_cast<Chunk*>(before)->next;
    thread.atomic(link).store(reinterpret_cast<std::uint64_t>(chunk), simt::release);
  }

  Root* root_ = nullptr;
};

}  // namespace allocbench
