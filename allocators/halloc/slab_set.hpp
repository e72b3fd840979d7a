// SlabSet is a set of slabs: one bit per slab, and an upper bound of the number of set bits, so that searches do not
// scan empty sets.
//
// Adinetz & Pleiter 2014, "Slab sets". A thread that clears a bit has removed the slab. It then checks the state of
// the slab, because the slab may no longer belong to the size class of this set. Additions release and removals
// acquire, so the remover sees the slab at least as it was when it was added. `members` is increased before a bit is
// set and decreased after it is cleared, so `members` is never below the number of set bits. If `members` is zero, a
// search ends without a scan of all words.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::halloc {

// Word 0 is `members`, word 1 is the index of the word of bits in which the last slab was found, and the other words
// have the bits.
struct SlabSet {
  static constexpr std::uint32_t header_words = 2;

  std::uint32_t* words;
  std::uint32_t bit_words;

  SIMT_HOST_FN static std::uint32_t words_for(std::uint32_t slabs) { return header_words + (slabs + 31) / 32; }

  template <class Thread>
  SIMT_FN void add(Thread& thread, std::uint32_t slab) const {
    thread.atomic(words[0]).fetch_add(1u, simt::relaxed);
    const std::uint32_t bit = 1u << slab % 32;
    const std::uint32_t before = thread.atomic(words[header_words + slab / 32]).fetch_or(bit, simt::release);
    if ((before & bit) != 0) thread.atomic(words[0]).fetch_sub(1u, simt::relaxed);
  }

  // Removes a slab that has left the class. The slab may have returned to the class meanwhile. So the caller checks the
  // slab afterwards and adds it again if needed.
  template <class Thread>
  SIMT_FN void remove(Thread& thread, std::uint32_t slab) const {
    const std::uint32_t bit = 1u << slab % 32;
    const std::uint32_t before = thread.atomic(words[header_words + slab / 32]).fetch_and(~bit, simt::acquire);
    if ((before & bit) != 0) thread.atomic(words[0]).fetch_sub(1u, simt::relaxed);
  }

  // Summary has an upper bound of the number of members, and the word where a search begins. It is separate from
  // find(), so that the loads of several sets overlap.
  struct Summary {
    std::uint32_t members, first_word;
  };
  template <class Thread>
  SIMT_FN Summary summary(Thread& thread) const {
    return {thread.atomic(words[0]).load(simt::relaxed), thread.atomic(words[1]).load(simt::relaxed)};
  }

  // Removes one member after the other and calls `take(slab, look(slab))`. `take` returns the head word that it made of
  // the slab, or no_head. `look` runs before the slab is removed, so that its load overlaps the removal. The search
  // ends at the first success, when no member is left, or after one look at every word.
  template <class Thread, class Look, class Take>
  SIMT_FN std::uint64_t find(Thread& thread, Summary summary, std::uint64_t no_head, Look look, Take take) const {
    std::uint32_t index = summary.first_word;
    for (std::uint32_t i = 0; i < bit_words && summary.members != 0; ++i) {
      const auto word = thread.atomic(words[header_words + index]);
      for (std::uint32_t bits = word.load(simt::relaxed); bits != 0; bits &= bits - 1) {
        thread.probe(simt::Step::walk);
        const std::uint32_t bit = bits & (0u - bits);
        const std::uint32_t slab = index * 32 + simt::count_trailing_zeros(bit);
        const auto seen = look(slab);
        if ((word.fetch_and(~bit, simt::acquire) & bit) == 0) continue;
        thread.atomic(words[0]).fetch_sub(1u, simt::relaxed);
        const std::uint64_t head = take(slab, seen);
        if (head == no_head) {
          summary.members = thread.atomic(words[0]).load(simt::relaxed);
          continue;
        }
        if (index != summary.first_word) thread.atomic(words[1]).store(index, simt::relaxed);
        return head;
      }
      index = index + 1 == bit_words ? 0 : index + 1;
    }
    return no_head;
  }
};

}  // namespace allocbench::halloc
