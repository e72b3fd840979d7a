// RW-BM is a random walk over a bitmap of the pages, 32 or 64 pages at a step.
//
// Paper: Pham et al. 2025, section 3.3 and algorithm 2.
//
// Idea: RW-BM works as RW (flag_walk.hpp), but a step checks the used bits of 32 pages and takes the lowest free page.
// So walks are up to 32 times shorter if free pages are scarce. rw_bm_64 has the paper's other word length, 64 bits.
//
// bitmap.hpp describes the data and the protocol.
//
// Differs from the paper (rw_bm):
// * We chose the memory orders (bitmap.hpp).
// * A walk releases its lock. The algorithm in the paper does not. A thread that does not get a lock pauses briefly.
// * An atomic OR sets a bit, because frees take no lock.
// * A walk gives up after a bounded number of failed probes (page_parameters.hpp).
// * Philox makes the random numbers.
//
// The authors' public code has no LockMap (the lock bits of the words), so each of its probes has up to two atomic
// operations fewer than a probe of rw_bm: the lock and its release. The mallocs of the authors' code are faster
// (results/reference/h200/originals.md), because the lock needs a separate trip to memory.
//
// Reworked (rw_bm_reworked): There is no LockMap. The first attempt is an atomic OR of a random bit of a random word,
// without a load before. If many pages are free, this is usually the only trip to memory. An OR that fails returns the
// word, as a load would. In pools of more than 1,024 pages, a walk gives up by default after the same number of failed
// probes in a row as in RW, although each probe sees a whole word (bitmap.hpp).
#pragma once

#include "allocators/random_walk/bitmap_pages.hpp"

namespace allocbench {
namespace random_walk {

template <Locking locking, class Word = std::uint32_t>
class BitmapWalk : public BitmapPages<locking, Word> {
  using BitmapPages<locking, Word>::bitmap_;

 public:
  using typename BitmapPages<locking, Word>::Parameters;

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bitmap_.pages.limit.refuses(bytes)) return nullptr;
    const std::uint32_t page = bitmap_.walk(thread, true);
    return page == no_page ? nullptr : bitmap_.pages.address(page);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    bitmap_.free(thread, block);
  }

 protected:
  static BitmapWalk lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    BitmapWalk allocator;
    allocator.bitmap_ = PageBitmap<locking, Word>::create(arena, parameters, name);
    return allocator;
  }
};

}  // namespace random_walk
}  // namespace allocbench
