// AWMalloc (AtomicWrapMalloc) is a bump allocator on a circular pool.
//
// Paper: Vinkler & Havran 2015, section 4.1 and Algorithm 2.
//
// Idea: Requests add to a word as in AtomicMalloc. A request that exceeds the end of the pool tries to set the word to
// the end of its own block at the start of the pool. A wrap reuses memory that was not freed, so AWMalloc serves only
// for comparison.
//
// Data: `next` is the sum of the rounded requests since reset() or the last wrap. Refused requests are not added.
//
// Differs from the paper: A failed exchange may observe a value v of the word with v <= pool < v + bytes. Then
// Algorithm 2 leaves its loop and returns [v - bytes, v), a range that no thread reserved. In this form the thread
// tries the wrap again from v. The word has 64 bits, so the additions of all threads of a GPU between two wraps cannot
// overflow it. Requests are rounded up to 16 bytes, and requests larger than the pool return null.
#pragma once

#include "allocators/bump/bump_pool.hpp"

namespace allocbench {

class AWMalloc : public BumpPool {
 public:
  static constexpr Traits traits{.name = "aw_malloc",
                                 .display_name = "AWMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 4.1",
                                 .summary = "bump pointer on a circular pool: wraps instead of freeing",
                                 .form = Form::published,
                                 .frees = Frees::never,
                                 .recycles_unfreed = true};

  static AWMalloc create(Arena& arena, const Parameters&) {
    AWMalloc allocator;
    allocator.lay_out(arena);
    return allocator;
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (limit_.refuses(bytes)) return nullptr;
    const std::uint64_t need = rounded_up(bytes);
    const auto next = thread.atomic(*next_);
    for (;;) {
      const std::uint64_t offset = next.fetch_add(need, simt::relaxed);
      if (offset + need <= limit_.bytes) return base_ + offset;
      // The request exceeds the end, so it wraps from the current value of the word, unless another thread has already
      // wrapped.
      thread.probe(simt::Step::wrap);
      std::uint64_t seen = offset + need;
      do {
        if (next.compare_exchange(seen, need, simt::relaxed, simt::relaxed)) return base_;
        thread.probe(simt::Step::retry);
      } while (seen + need > limit_.bytes);
    }
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(aw_malloc, AWMalloc)
