// AtomicMalloc is a bump allocator. Its times serve as the lower bound in comparisons of allocators.
//
// Paper: Vinkler & Havran 2015, section 3.1 and Algorithm 1.
//
// Idea: One fetch-add on one word hands out the pool from front to back. Nothing is ever freed.
//
// Data: `next` is the sum of all rounded requests since reset(), except those that are larger than the pool.
//
// Differs from the paper: Requests are rounded up to 16 bytes for alignment, and requests beyond the end of the pool
// get null. Failed requests leave their addition in `next`. If a failed request subtracted its bytes again, one range
// could be handed out twice. The word has 64 bits, and a request has at most the size of the pool. So the word wraps
// only after at least 2^64 / pool size failed requests. (Code that resets the word after failures would take registers
// in every malloc.)
//
// The authors' AtomicMalloc, measured by another program (data/originals/h200.json), takes 1.5 to 1.8 us less per
// kernel, for mallocs and for frees. A free does nothing, so the difference comes from the two ways of measuring.
#pragma once

#include "allocators/bump/bump_pool.hpp"

namespace allocbench {

class AtomicMalloc : public BumpPool {
 public:
  static constexpr Traits traits{.name = "atomic_malloc",
                                 .display_name = "AtomicMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 3.1",
                                 .summary = "one fetch-add on a bump pointer; never frees: the lower bound",
                                 .form = Form::published,
                                 .frees = Frees::never};

  static AtomicMalloc create(Arena& arena, const Parameters&) {
    AtomicMalloc allocator;
    allocator.lay_out(arena);
    return allocator;
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (limit_.refuses(bytes)) return nullptr;
    const std::uint64_t need = rounded_up(bytes);
    const std::uint64_t offset = thread.atomic(*next_).fetch_add(need, simt::relaxed);
    return offset + need <= limit_.bytes ? base_ + offset : nullptr;
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(atomic_malloc, AtomicMalloc)
