// AWMalloc (AtomicWrapMalloc): a bump allocator on a circular pool.
//
// Paper: Vinkler & Havran 2015, section 4.1 and Algorithm 2.
// Idea: bump like AtomicMalloc. A request that runs past the end tries to set the pointer back to just behind its own
// block, and then owns the start of the pool. Memory is handed out again even if nobody freed it: a yardstick, not a
// heap.
// Data: `next`, bytes handed out since the last wrap.
// Differs from the paper: if the failed exchange observes a pointer v with v <= pool < v + bytes, Algorithm 2 leaves
// its loop and returns [v - bytes, v), a range that nobody reserved. Here that case tries the wrap again from v. The
// word has 64 bits, so the additions of all threads of a GPU between two wraps cannot overflow it. Requests are rounded
// up to 16 bytes, and requests larger than the pool return null.
#pragma once

#include "allocators/common/request.hpp"
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

  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return pool_bytes / granule_bytes * granule_bytes;
  }

  static AWMalloc create(Arena& arena, const Parameters& parameters) {
    AWMalloc allocator;
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
    for (;;) {
      const std::uint64_t offset = next.fetch_add(need, simt::relaxed);
      if (offset + need <= limit_.bytes) return base_ + offset;
      // Past the end. Wrap from whatever value the pointer has, unless another thread has wrapped before us.
      thread.probe(simt::Step::wrap);
      std::uint64_t seen = offset + need;
      do {
        if (next.compare_exchange(seen, need, simt::relaxed, simt::relaxed)) return base_;
        thread.probe(simt::Step::retry);
      } while (seen + need > limit_.bytes);
    }
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

ALLOCBENCH_REGISTER(aw_malloc, AWMalloc)
