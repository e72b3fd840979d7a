// Operations of one thread on one word of the bitmap: claim bits, confirm the claim, own the word.
#pragma once

#include "allocators/comb/space.hpp"

namespace allocbench::comb {

// The lowest `wanted` of these bits, or all of them if there are fewer.
SIMT_HOST_FN std::uint32_t lowest_bits(std::uint32_t bits, std::uint32_t wanted) {
  if (simt::popcount(bits) <= wanted) return bits;
  return bits & ((1u << simt::nth_set_bit(bits, wanted)) - 1);
}

// True for the words of a class.
SIMT_FN bool has_tag(std::uint64_t word, SizeClass size_class) {
  return tag_of(word) == chunk_of_class(size_class.index);
}

// Clears bits that the caller holds and that no block has.
template <class Thread, class S>
SIMT_FN void clear_bits(Thread& thread, const S& space, std::uint32_t number, std::uint32_t bits) {
  thread.atomic(space.words[number]).fetch_and(~std::uint64_t{bits}, simt::relaxed);
}

// Sets bits of a word and returns those that the caller has won. The old word is the check after the claim: if its tag
// differs from the caller's class, the chunk has another class, and the caller clears the bits. If the tag is the same,
// the chunk stays in this class until the caller clears the bits, because a thread that changes the class must own
// every word.
//
// If the word was blank, nothing is won yet: the caller holds the bits that `before` does not have, and must confirm()
// the claim or clear them.
template <class Thread, class S>
SIMT_FN std::uint32_t claim_bits(Thread& thread, const S& space, std::uint32_t number, SizeClass size_class,
                                 std::uint32_t bits, std::uint64_t& before) {
  const auto word = thread.atomic(space.words[number]);
  before = word.fetch_or(bits, simt::acquire);
  const std::uint32_t got = bits & ~bits_of(before);
  if (has_tag(before, size_class) || S::bug == Bug::unchecked_claim) return got;
  if (got != 0 && tag_of(before) != blank && S::bug != Bug::kept_guess) {
    clear_bits(thread, space, number, got);
  }
  return 0;
}

// Gives the tag of the class to a word that was blank when the caller won `bits` of it, and returns the bits. The chunk
// has the class since then.
template <class Thread, class S>
SIMT_FN std::uint32_t confirm(Thread& thread, const S& space, std::uint32_t number, SizeClass size_class,
                              std::uint32_t bits) {
  thread.atomic(space.words[number]).fetch_or(tagged(chunk_of_class(size_class.index), 0), simt::release);
  return bits;
}

// The chunk's entry of the table, for a caller that holds bits of a word of the chunk, which was blank.
//
// The bits come first and the load of the table second. While the bits are set, no thread can lock the word, so a chunk
// of the class stays in it. The load cannot return an older class that needs this word: the thread that ended that
// class wrote the table, and then made the word blank with release.
template <class Thread, class S>
SIMT_FN std::uint32_t ask_class(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class) {
  if (S::bug == Bug::unasked_class) return chunk_of_class(size_class.index);
  return thread.atomic(space.table[chunk]).load(simt::acquire);
}

// The free slots of a loaded word of the class, or of a blank word.
SIMT_FN std::uint32_t free_slots(std::uint64_t word, SizeClass size_class, std::uint32_t index) {
  return has_tag(word, size_class) || tag_of(word) == blank ? ~(bits_of(word) | size_class.surplus(index)) : 0;
}

// Takes up to `wanted` slots of a word that contained `seen`. If the word was blank, takes those of `first`, if they
// are free and enough.
template <class Thread, class S>
SIMT_FN std::uint32_t take_slots(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index,
                                 SizeClass size_class, std::uint64_t seen, std::uint32_t wanted, std::uint32_t first) {
  thread.probe(simt::Step::attempt);
  const std::uint32_t room = free_slots(seen, size_class, index);
  const bool takes_first = tag_of(seen) == blank && simt::popcount(first) == wanted && (first & ~room) == 0;
  const std::uint32_t slots = takes_first ? first : lowest_bits(room, wanted);
  const std::uint32_t number = space.word_number(chunk, index);
  std::uint64_t before;
  const std::uint32_t won = claim_bits(thread, space, number, size_class, slots, before);
  const std::uint32_t got = slots & ~bits_of(before);
  if (tag_of(before) != blank || got == 0) return won;
  if (ask_class(thread, space, chunk, size_class) == chunk_of_class(size_class.index)) {
    return confirm(thread, space, number, size_class, got);
  }
  clear_bits(thread, space, number, got);
  return 0;
}

// Locks a word whose slots are all free. `size_class` is that of the chunk.
template <class Thread, class S>
SIMT_FN bool own_word(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index, SizeClass size_class,
                      std::uint64_t& before) {
  const auto word = thread.atomic(space.words[space.word_number(chunk, index)]);
  before = word.load(simt::relaxed);
  if (before != tagged(chunk_of_class(size_class.index), 0) && before != blank_word) return false;
  return word.compare_exchange(before, locked_word, simt::acquire, simt::relaxed);
}

}  // namespace allocbench::comb
