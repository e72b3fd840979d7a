// Changes of chunks: a free chunk gets a class, and an empty chunk of a class becomes free or gets another class.
//
// A thread retires a chunk by taking all its slots: it locks every word, from "no slot taken" or from "blank". Then no
// other thread is inside or can enter, and no block of the chunk is in use. Only then does the table change, and after
// that the words become blank. Word 0 comes first, so of two retiring threads only one succeeds. If any slot is taken,
// by its owner or for a moment by a claim with the wrong class, the attempt ends, and the words are unlocked.
#pragma once

#include "allocators/comb/words.hpp"

namespace allocbench::comb {

// Takes ownership of a free chunk.
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

// Gives a class to an owned chunk without one. Its words are blank, and the first claim in each gives it the tag.
template <class Thread, class S>
SIMT_FN void give_class(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  thread.atomic(space.table[chunk]).store(chunk_of_class(size_class), simt::release);
}

// Gives a free chunk to the class.
template <class Thread, class S>
SIMT_FN bool adopt(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  if (!claim_chunk(thread, space, chunk)) return false;
  give_class(thread, space, chunk, size_class);
  return true;
}

// True if the chunk looks empty. With `busy` also if another thread has locked its first word, or holds bits of it that
// it may clear again.
template <class Thread, class S>
SIMT_FN bool seems_empty(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class, bool busy) {
  const std::uint64_t word = thread.atomic(space.words[space.word_number(chunk, 0)]).load(simt::relaxed);
  if (busy && (tag_of(word) == blank || tag_of(word) == locked)) return true;
  return word == tagged(chunk_of_class(size_class.index), 0) || word == blank_word;
}

// Called by the first member. Locks word 0 and checks that the chunk still belongs to the class.
template <class Thread, class S>
SIMT_FN bool enter(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class) {
  std::uint64_t before = 0;
  if (!own_word(thread, space, chunk, 0, size_class, before)) return false;
  if (thread.atomic(space.table[chunk]).load(simt::acquire) == chunk_of_class(size_class.index)) return true;
  thread.atomic(space.words[space.word_number(chunk, 0)]).store(before, simt::release);
  return false;
}

// Called by all members of the group. Sets the table entry of an empty chunk of a class to `next`. False if the chunk
// is not empty or another group works on it.
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
      word(i).store(tagged(chunk_of_class(size_class.index), 0), simt::release);
    }
    if (rank == 0) word(0).store(tagged(chunk_of_class(size_class.index), 0), simt::release);
    group.sync();
    return false;
  }
  group.sync();  // the first member's release covers all that locked words
  const auto blank_words = [&] {
    SIMT_ROLLED
    for (std::uint32_t i = rank; i < words; i += size) word(i).store(blank_word, simt::release);
    group.sync();
  };
  if constexpr (S::bug == Bug::late_class) blank_words();
  if (rank == 0) thread.atomic(space.table[chunk]).store(next, simt::release);
  group.sync();  // and each of them makes words blank after the table has changed
  if constexpr (S::bug != Bug::late_class) blank_words();
  if (rank == 0 && next == free_chunk) release_chunk(thread, space, chunk);
  return true;
}

}  // namespace allocbench::comb
