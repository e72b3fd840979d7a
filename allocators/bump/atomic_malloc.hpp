// AtomicMalloc: the bump allocator that gives the lower bound of every comparison.
//
// Paper: Vinkler & Havran 2015, section 3.1 and Algorithm 1.
// Idea: one fetch-add on one word hands out the pool from front to back; nothing is ever freed.
// Data: `next`, bytes handed out so far.
// Differs from the paper: requests are rounded up to 16 bytes for alignment, and the end of the pool is tested. Failed
// requests leave their addition in `next`, because subtracting it again would let add/subtract interleavings hand out
// one range twice. The word has 64 bits and a request at most the size of the pool, so it takes 2^64 / pool size failed
// requests to make it wrap. (Setting it back would take registers in every malloc.)
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
    const std::uint64_t offset = thread.atomic(*next_).fetch_add(need, simt::relaxed);
    return offset + need <= limit_.bytes ? base_ + offset : nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 private:
  static constexpr std::uint32_t granule_log2 = 4;
  static constexpr std::uint64_t granule_bytes = 1u << granule_log2;

  std::byte* base_ = nullptr;
  RequestLimit limit_;  // also the end of the pool
  std::uint64_t* next_ = nullptr;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(atomic_malloc, AtomicMalloc)
