// SlabBitmap is a set of slabs as published: one bit per slab and nothing else.
//
// Adinetz & Pleiter 2014, "Slab Sets". An addition is an OR, and a removal is an AND. A search scans the words and
// tries to remove the slabs that it finds. The set may have too many slabs, so a lane that removes a slab checks the
// slab. Only the set of free slabs is exact. Additions release and removals acquire, so the remover sees the slab at
// least as it was when it was added.
#pragma once

#include "allocators/halloc/size_classes.hpp"

namespace allocbench::halloc {

struct SlabBitmap {
  std::uint32_t* words;
  std::uint32_t word_count;

  template <class Thread>
  SIMT_FN void add(Thread& thread, std::uint32_t slab) const {
    thread.atomic(words[slab / 32]).fetch_or(1u << slab % 32, simt::release);
  }
  template <class Thread>
  SIMT_FN void remove(Thread& thread, std::uint32_t slab) const {
    thread.atomic(words[slab / 32]).fetch_and(~(1u << slab % 32), simt::acquire);
  }

  // Removes one member after the other until take(slab) is true, and returns this slab. Returns no_slab if there is no
  // such slab after one look at every word.
  template <class Thread, class Take>
  SIMT_FN std::uint32_t remove_any(Thread& thread, Take take) const {
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < word_count; ++i) {
      const auto word = thread.atomic(words[i]);
      SIMT_ROLLED
      for (std::uint32_t bits = word.load(simt::relaxed); bits != 0; bits &= bits - 1) {
        thread.probe(simt::Step::walk);
        const std::uint32_t bit = bits & (0u - bits);
        if ((word.fetch_and(~bit, simt::acquire) & bit) == 0) continue;
        const std::uint32_t slab = i * 32 + simt::count_trailing_zeros(bit);
        if (take(slab)) return slab;
      }
    }
    return no_slab;
  }
};

}  // namespace allocbench::halloc
