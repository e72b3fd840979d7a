// What one thread does to one word of the bitmap: claim bits, open it, own it.
#pragma once

#include "allocators/comb/space.hpp"

namespace allocbench::comb {

// The lowest `wanted` of these bits, or all of them if there are fewer.
SIMT_HOST_FN std::uint32_t lowest_bits(std::uint32_t bits, std::uint32_t wanted) {
  if (simt::popcount(bits) <= wanted) return bits;
  return bits & ((1u << simt::nth_set_bit(bits, wanted)) - 1);
}

// Sets bits of a word and returns those that are mine from now on. The old word is the check after the claim: with
// another tag than mine the chunk is not, or no longer, of my class, and what I took goes back. With my tag
// the chunk stays in this class until I give the bits back, because whoever wants to change that must own every word.
template <class Thread, class S>
SIMT_FN std::uint32_t claim_bits(Thread& thread, const S& space, std::uint32_t number, std::uint32_t size_class,
                                 std::uint32_t bits, std::uint64_t& before) {
  const auto word = thread.atomic(space.words[number]);
  before = word.fetch_or(bits, simt::acquire);
  const std::uint32_t got = bits & ~bits_of(before);
  if (tag_of(before) == size_class || S::bug == Bug::unchecked_claim) return got;
  if (got != 0 && S::bug != Bug::kept_guess) word.fetch_and(~std::uint64_t{got}, simt::relaxed);
  return 0;
}

// The free slots of a word, as far as one look tells; all slots of a closed one.
SIMT_FN std::uint32_t free_slots(std::uint64_t word, SizeClass size_class, std::uint32_t index) {
  if (tag_of(word) == size_class.index) return ~bits_of(word);
  return is_closed(word) ? ~size_class.surplus(index) : 0;
}

// Opens a word that was closed when somebody saw it, in a chunk that had the class after that, and takes these of its
// slots, which are returned.
//
// Everybody who comes to a new chunk may do this at the same time, without a lock. It is safe because the word still is
// what was seen, which it never was before nor will be again: so nobody has locked it in between, and who ends a class
// locks each of its words before the table changes. The table said that the chunk is of my class when the word was
// closed in this epoch, so it says that now.
template <class Thread, class S>
SIMT_FN std::uint32_t open_word(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index,
                                SizeClass size_class, std::uint64_t seen, std::uint32_t slots) {
  const auto word = thread.atomic(space.words[space.word_number(chunk, index)]);
  const std::uint32_t surplus = size_class.surplus(index);
  if (!word.compare_exchange(seen, tagged(size_class.index, surplus | slots), simt::acq_rel, simt::relaxed)) return 0;
  return slots & ~surplus;
}

// Is the chunk of the class? For those who saw a closed word, which they have read with acquire: so they cannot read
// here what the table said before the word was closed.
template <class Thread, class S>
SIMT_FN bool has_class(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  if (S::bug == Bug::unasked_opening) return true;
  return thread.atomic(space.table[chunk]).load(simt::acquire) == chunk_of_class(size_class);
}

// Takes up to `wanted` slots of a word that held `seen`; if it is still closed, those of `first` if they are as many.
// `settled`: the class of the chunk is known since the word was seen.
template <class Thread, class S>
SIMT_FN std::uint32_t take_slots(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index,
                                 SizeClass size_class, std::uint64_t seen, std::uint32_t wanted, std::uint32_t first,
                                 bool settled) {
  thread.probe(simt::Step::attempt);
  const bool opens = is_closed(seen);
  const std::uint32_t slots =
      opens && simt::popcount(first) == wanted ? first : lowest_bits(free_slots(seen, size_class, index), wanted);
  if (!opens) {
    std::uint64_t before;
    return claim_bits(thread, space, space.word_number(chunk, index), size_class.index, slots, before);
  }
  if (!settled && !has_class(thread, space, chunk, size_class.index)) return 0;
  return open_word(thread, space, chunk, index, size_class, seen, slots);
}

}  // namespace allocbench::comb
