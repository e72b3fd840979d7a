// Changes of chunks: a free chunk gets a class, and an empty chunk of a class becomes free or gets another class.
//
// A thread retires a chunk by taking all its slots: it locks every word, from "no slot taken" or from "blank". Then no
// other thread is inside or can enter, and no block of the chunk is in use. Only then does the table change, and after
// that the words become blank. Word 0 comes first, so of two retiring threads only one succeeds. If any slot is taken,
// by its owner or for a moment by a claim with the wrong class, the attempt ends, and the words are unlocked.
#pragma once

#include "allocators/comb/words.hpp"

namespace allocbench::comb {

// Makes a free chunk one of the class, and returns its entry of the table before. This thread owned the chunk in
// between if the entry was `free_chunk`.
template <class Thread, class S>
SIMT_FN std::uint32_t join_class(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  std::uint32_t entry = free_chunk;
  thread.atomic(space.table[chunk]).compare_exchange(entry, chunk_of_class(size_class), simt::acq_rel, simt::acquire);
  return entry;
}

// The map shows where free chunks may be. A chunk is marked before its entry changes from free, or by a thread that
// holds slots of it, and the mark is cleared after the entry changes to free. So no free chunk keeps a mark. A chunk in
// use may lack one for a while, because another thread may have taken it before the mark is cleared.
template <class Thread, class S>
SIMT_FN bool mark_used(Thread& thread, const S& space, std::uint32_t chunk) {
  const std::uint32_t i = chunk - first_chunk;
  const std::uint32_t bit = 1u << i % 32;
  return (thread.atomic(space.in_use[i / 32]).fetch_or(bit, simt::acquire) & bit) == 0;
}
template <class Thread, class S>
SIMT_FN void mark_unused(Thread& thread, const S& space, std::uint32_t chunk) {
  const std::uint32_t i = chunk - first_chunk;
  thread.atomic(space.in_use[i / 32]).fetch_and(~(1u << i % 32), simt::release);
}

// Gives a free chunk to the class. If the chunk is in use without a mark, it has the mark then.
template <class Thread, class S>
SIMT_FN bool adopt(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class) {
  if (!mark_used(thread, space, chunk) || join_class(thread, space, chunk, size_class) != free_chunk) return false;
  thread.atomic(*space.used).fetch_add(1u, simt::relaxed);
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
  if (rank == 0 && next == free_chunk) {
    mark_unused(thread, space, chunk);
    thread.atomic(*space.used).fetch_sub(1u, simt::relaxed);
  }
  return true;
}

}  // namespace allocbench::comb
