// AWMalloc (AtomicWrapMalloc): a bump allocator on a circular pool.
//
// Paper: Vinkler & Havran 2015, section 4.1 and Algorithm 2.
// Idea: bump like AtomicMalloc; whoever runs past the end tries to set the pointer back to just behind its own block
// and then owns the start of the pool. Memory is handed out again whether or not anyone freed it: a yardstick, not a
// heap. Data: `next`, bytes handed out since the last wrap. Differs from the paper: when the failed exchange observes a
// pointer v with v <= pool < v + bytes, Algorithm 2 leaves its loop and returns [v - bytes, v), a range that nobody
// reserved. Here that case tries the wrap again from v. The word has 64 bits so that failed additions cannot overflow
// it, requests are rounded up to 16 bytes, and requests larger than the pool return null.
#pragma once

#include "allocators/contract/allocator.hpp"

namespace allocbench {

class AWMalloc {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "aw_malloc",
                                 .display_name = "AWMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 4.1",
                                 .summary = "bump pointer on a circular pool: wraps instead of freeing",
                                 .frees = Frees::never,
                                 .recycles_unfreed = true};

  static AWMalloc create(Arena& arena, const Parameters&) {
    AWMalloc allocator;
    allocator.pool_ = arena.pool();
    allocator.next_ = arena.metadata<std::uint64_t>(1);
    return allocator;
  }

  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 1024}; }

  void reset(simt::Stream& stream) { simt::device_fill(stream, next_, 0, sizeof *next_); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const std::uint64_t need = simt::round_up<std::uint64_t>(bytes, 16);
    if (need > pool_.bytes) return nullptr;
    const auto next = thread.atomic(*next_);
    for (;;) {
      const std::uint64_t offset = next.fetch_add(need, simt::relaxed);
      if (offset + need <= pool_.bytes) return pool_.base + offset;
      // Past the end. Wrap from whatever value the pointer has, unless somebody wrapped before us.
      thread.probe(simt::Step::wrap);
      std::uint64_t seen = offset + need;
      do {
        if (next.compare_exchange(seen, need, simt::relaxed, simt::relaxed)) return pool_.base;
        thread.probe(simt::Step::retry);
      } while (seen + need > pool_.bytes);
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 private:
  Pool pool_;
  std::uint64_t* next_ = nullptr;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(aw_malloc, AWMalloc)
