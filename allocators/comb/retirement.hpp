// These functions change the use of a chunk: a free chunk gets a class, and an empty chunk of a class becomes free or
// gets another class.
//
// The lanes of a group retire a chunk together: they lock all words that its class uses. They can lock only words that
// are closed or have no taken slot. When they have locked all words, no block of the chunk is in use, and no other
// thread can take a slot. The group changes the table and finally closes the words. It locks word 0 first, so of two
// groups that retire a chunk only one succeeds. If any slot is taken, even if only for a moment by a claim with the
// wrong class, the attempt ends. Then the group opens the words that it locked.
#pragma once

#include "allocators/comb/words.hpp"

namespace allocbench::comb {

// Takes ownership of a chunk. Returns false if the chunk is not free.
template <class Thread, class S>
SIMT_FN bool claim_chunk(Thread& thread, const S& space, std::uint32_t chunk) {
  const std::uint32_t i = chunk - first_chunk;
  const std::uint32_t bit = 1u << i % 32;
  if ((thread.atomic(space.in_use[i / 32]).fetch_or(bit, simt::acquire) & bit) != 0) return false;
  thread.atomic(*space.used).fetch_add(1u, simt::relaxed);
  return true;
}

// Releases an owned chunk that has no class.
template <class Thread, class S>
SIMT_FN void release_chunk(Thread& thread, const S& space, std::uint32_t chunk) {
  const std::uint32_t i = chunk - first_chunk;
  thread.atomic(space.in_use[i / 32]).fetch_and(~(1u << i % 32), simt::release);
  thread.atomic(*space.used).fetch_sub(1u, simt::relaxed);
}

// Gives a class to an owned chunk that has no class. The words of the chunk are closed, and the first warp that needs a
// word opens it.
template <class Thread, class S>
SIMT_FN void give_class(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  thread.atomic(space.table[chunk]).store(chunk_of_class(size_class), simt::release);
}

// Gives a chunk to the class. Returns false if the chunk is not free.
template <class Thread, class S>
SIMT_FN bool adopt(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  if (!claim_chunk(thread, space, chunk)) return false;
  give_class(thread, space, chunk, size_class);
  return true;
}

// Returns true if word 0 of the chunk has no taken slot or is closed. With `least` = `locked`, the word may also be
// locked by another thread.
template <class Thread, class S>
SIMT_FN bool seems_empty(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class,
                         std::uint32_t least) {
  const std::uint64_t word = thread.atomic(space.words[space.word_number(chunk, 0)]).load(simt::relaxed);
  return word == tagged(size_class.index, size_class.surplus(0)) || tag_of(word) >= least;
}

// Locks word 0 if it has no taken slot and the chunk still belongs to the class. Returns whether the word is now locked
// by this thread. The first member of the group calls this function.
template <class Thread, class S>
SIMT_FN bool enter(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class) {
  std::uint64_t before = 0;
  if (!own_word(thread, space, chunk, 0, size_class, before)) return false;
  if (thread.atomic(space.table[chunk]).load(simt::acquire) == chunk_of_class(size_class.index)) return true;
  thread.atomic(space.words[space.word_number(chunk, 0)]).store(before, simt::release);
  return false;
}

// Sets the table entry of an empty chunk of a class to `next`. All members of the group call this function. Returns
// false if the chunk is not empty, if it has left the class, or if another thread works on it.
template <class Thread, class S, class Group>
SIMT_FN bool retire(Thread& thread, const S& space, const Group& group, std::uint32_t chunk, SizeClass size_class,
                    std::uint32_t next) {
  const std::uint32_t words = size_class.words();
  const std::uint32_t rank = group.thread_rank();
  const std::uint32_t size = group.num_threads();
  const auto word = [&](std::uint32_t i) { return thread.atomic(space.words[space.word_number(chunk, i)]); };
  if (!group.any(rank == 0 && enter(thread, space, chunk, size_class))) return false;
  bool failed = false;
  std::uint32_t end = rank + 1;
  SIMT_ROLLED
  for (; end < words; end += size) {
    std::uint64_t before = 0;
    if (own_word(thread, space, chunk, end, size_class, before)) continue;
    if constexpr (S::bug == Bug::partial_retirement) continue;
    failed = true;
    break;
  }
  if (group.any(failed)) {
    thread.probe(simt::Step::retry);
    SIMT_ROLLED
    for (std::uint32_t i = rank + 1; i < end; i += size) {
      word(i).store(tagged(size_class.index, size_class.surplus(i)), simt::release);
    }
    if (rank == 0) word(0).store(tagged(size_class.index, size_class.surplus(0)), simt::release);
    group.sync();
    return false;
  }
  group.sync();  // the first member's release covers all members that locked words
  const auto close_words = [&] {
    SIMT_ROLLED
    for (std::uint32_t i = rank; i < words; i += size) word(i).store(closed_word, simt::release);
    group.sync();
  };
  if constexpr (S::bug == Bug::late_class) close_words();
  if (rank == 0) thread.atomic(space.table[chunk]).store(next, simt::release);
  group.sync();  // each member closes words after the table has changed
  if constexpr (S::bug != Bug::late_class) close_words();
  if (rank == 0 && next == free_chunk) release_chunk(thread, space, chunk);
  return true;
}

}  // namespace allocbench::comb
