// With these functions a thread claims bits of a bitmap word, opens the word, or locks it.
#pragma once

#include "allocators/comb/space.hpp"

namespace allocbench::comb {

// Returns the lowest `wanted` of these bits, or all of them if there are fewer.
SIMT_HOST_FN std::uint32_t lowest_bits(std::uint32_t bits, std::uint32_t wanted) {
  if (simt::popcount(bits) <= wanted) return bits;
  return bits & ((1u << simt::nth_set_bit(bits, wanted)) - 1);
}

// Sets bits of a word and returns those that the caller has won. The old word shows whether the claim counts. If its
// tag differs from the caller's class, the claim wins nothing, and this function clears the bits that it set. If the
// tag is the same, the chunk stays in this class until the caller clears the bits, because a thread that changes the
// class must own every word.
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

// Returns the free slots of a loaded word, or all slots of a closed word.
SIMT_FN std::uint32_t free_slots(std::uint64_t word, SizeClass size_class, std::uint32_t index) {
  if (tag_of(word) == size_class.index) return ~bits_of(word);
  return tag_of(word) == closed ? ~size_class.surplus(index) : 0;
}

// Opens a closed word of the chunk for a class and takes `slots` of it. Returns the slots that were taken: none if the
// word is not closed or the chunk has another class.
//
// The lock comes first and the load of the table second. While this thread holds the lock, no thread can retire the
// chunk, so its class cannot change. The load cannot return an older class, because the thread that ended that class
// first wrote the table and then closed each word with release.
template <class Thread, class S>
SIMT_FN std::uint32_t open_word(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index,
                                SizeClass size_class, std::uint32_t slots) {
  const auto word = thread.atomic(space.words[space.word_number(chunk, index)]);
  std::uint64_t expected = closed_word;
  if (!word.compare_exchange(expected, locked_word, simt::acquire, simt::relaxed)) return 0;
  if (thread.atomic(space.table[chunk]).load(simt::acquire) != chunk_of_class(size_class.index)) {
    word.store(closed_word, simt::release);
    return 0;
  }
  const std::uint32_t surplus = size_class.surplus(index);
  word.store(tagged(size_class.index, surplus | slots), simt::release);
  return slots & ~surplus;
}

// Takes up to `wanted` slots of a word that contained `seen`. If the word is closed and `first` has exactly `wanted`
// slots, takes the slots of `first`.
template <class Thread, class S>
SIMT_FN std::uint32_t take_slots(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index,
                                 SizeClass size_class, std::uint64_t seen, std::uint32_t wanted, std::uint32_t first) {
  thread.probe(simt::Step::attempt);
  const bool opens = tag_of(seen) == closed;
  const std::uint32_t slots =
      opens && simt::popcount(first) == wanted ? first : lowest_bits(free_slots(seen, size_class, index), wanted);
  if (opens) return open_word(thread, space, chunk, index, size_class, slots);
  std::uint64_t before;
  return claim_bits(thread, space, space.word_number(chunk, index), size_class.index, slots, before);
}

// Locks a word whose slots are all free, or a closed word. Returns false if the word is neither or another thread
// changes it. `size_class` is the class of the chunk. `before` gets the value of the word.
template <class Thread, class S>
SIMT_FN bool own_word(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index, SizeClass size_class,
                      std::uint64_t& before) {
  const auto word = thread.atomic(space.words[space.word_number(chunk, index)]);
  const std::uint64_t empty = tagged(size_class.index, size_class.surplus(index));
  before = word.load(simt::relaxed);
  if (before != empty && before != closed_word) return false;
  return word.compare_exchange(before, locked_word, simt::acquire, simt::relaxed);
}

}  // namespace allocbench::comb
