// AtomicMalloc: the bump allocator that gives the lower bound of every comparison.
//
// Paper: Vinkler & Havran 2015, section 3.1 and Algorithm 1.
// Idea: one fetch-add on one word hands out the pool from front to back; nothing is ever freed.
// Data: `next`, bytes handed out so far.
// Differs from the paper: requests are rounded up to 16 bytes for alignment, and the end of the pool is tested. A failed
// request sets `next` back to the end of the pool, so that the word cannot wrap. It does not subtract what it added,
// because add/subtract interleavings could hand out one range twice.
#pragma once

#include "allocators/common/request.hpp"
#include "allocators/contract/allocator.hpp"

namespace allocbench {

class AtomicMalloc {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "atomic_malloc",
                                 .display_name = "AtomicMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 3.1",
                                 .summary = "one fetch-add on a bump pointer; never frees: the lower bound",
                                 .frees = Frees::never};

  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return pool_bytes / granule_bytes * granule_bytes;
  }

  static AtomicMalloc create(Arena& arena, const Parameters& parameters) {
    AtomicMalloc allocator;
    allocator.base_ = arena.pool().base;
    allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
    allocator.next_ = arena.metadata<std::uint64_t>(1);
    return allocator;
  }

  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 1024}; }

  void reset(simt::Stream& stream) { simt::device_fill(stream, next_, 0, sizeof *next_); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (limit_.refuses(bytes)) return nullptr;
    const std::uint64_t need = units_of(std::uint64_t{bytes}, granule_log2) * granule_bytes;
    const auto next = thread.atomic(*next_);
    const std::uint64_t offset = next.fetch_add(need, simt::relaxed);
    if (offset + need <= limit_.bytes) return base_ + offset;
    // Every value from the end of the pool on means "full".
    next.fetch_min(limit_.bytes, simt::relaxed);
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

  // For tests.
  std::uint64_t* counter() const { return next_; }

 private:
  static constexpr std::uint32_t granule_log2 = 4;
  static constexpr std::uint64_t granule_bytes = 1u << granule_log2;

  std::byte* base_ = nullptr;
  RequestLimit limit_;  // also the end of the pool
  std::uint64_t* next_ = nullptr;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(atomic_malloc, AtomicMalloc)
