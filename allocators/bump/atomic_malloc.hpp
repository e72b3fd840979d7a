// AtomicMalloc: the bump allocator that gives the lower bound of every comparison.
//
// Paper: Vinkler & Havran 2015, section 3.1 and Algorithm 1.
// Idea: one fetch-add on one word hands out the pool from front to back; nothing is ever freed.
// Data: `next`, bytes handed out so far.
// Differs from the paper: requests are rounded up to 16 bytes for alignment, and the end of the pool is tested. The
// word has 64 bits, because failed requests keep growing it; subtracting them again would let add/subtract
// interleavings hand out one range twice.
#pragma once

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

  static AtomicMalloc create(Arena& arena, const Parameters&) {
    AtomicMalloc allocator;
    allocator.pool_ = arena.pool();
    allocator.next_ = arena.metadata<std::uint64_t>(1);
    return allocator;
  }

  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 1024}; }

  void reset(simt::Stream& stream) { simt::device_fill(stream, next_, 0, sizeof *next_); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const std::uint64_t need = simt::round_up<std::uint64_t>(bytes, 16);
    const std::uint64_t offset = thread.atomic(*next_).fetch_add(need, simt::relaxed);
    return offset + need <= pool_.bytes ? pool_.base + offset : nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 private:
  Pool pool_;
  std::uint64_t* next_ = nullptr;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(atomic_malloc, AtomicMalloc)
