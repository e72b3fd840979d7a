// Chunks change hands: a free one gets a class, an empty one of a class becomes free or gets another class.
//
// A chunk is retired by taking all of its slots: every word is locked, from "no slot taken" or from "closed". Then
// nobody else is inside, nobody can come in, and no block of the chunk lives. Only then does the table change, and only
// after that are the words given away: open for the next class, or closed. Word 0 comes first, so of two retirers one
// gets in. Any slot taken, by its owner or for a moment by a claim that missed its class, ends the attempt: the words
// are opened again as they were.
#pragma once

#include "allocators/comb/words.hpp"

namespace allocbench::comb {

// Chunks in use beyond which they are scarce.
template <class S>
SIMT_FN std::uint32_t plenty(const S& space) {
  return space.chunks - space.chunks / 4;
}

// Gives up a chunk that is owned and has no class.
template <class Thread, class S>
SIMT_FN void release_chunk(Thread& thread, const S& space, std::uint32_t chunk) {
  const std::uint32_t i = chunk - first_chunk;
  thread.atomic(space.in_use[i / 32]).fetch_and(~(1u << i % 32), simt::release);
  thread.atomic(*space.used).fetch_sub(1u, simt::relaxed);
}

// A free chunk becomes one of the class; a `thrifty` request does not take it where chunks are scarce.
template <class Thread, class S>
SIMT_FN bool adopt(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class, bool thrifty) {
  const std::uint32_t i = chunk - first_chunk;
  const std::uint32_t bit = 1u << i % 32;
  const auto used = thread.atomic(*space.used);
  if (thrifty && used.load(simt::relaxed) >= plenty(space)) return false;
  if ((thread.atomic(space.in_use[i / 32]).fetch_or(bit, simt::acquire) & bit) != 0) return false;
  // Thousands may ask at once before they see that chunks have become scarce.
  const std::uint32_t before = used.fetch_add(1u, simt::relaxed);
  if (thrifty && before >= plenty(space)) {
    release_chunk(thread, space, chunk);
    return false;
  }
  thread.atomic(space.table[chunk]).store(chunk_of_class(size_class), simt::release);
  return true;
}

// Who makes a free chunk one of the class, of those that come to it at the same time.
enum class Asks {
  me,
  others,  // they will do it in a moment: requests for one word of the map take turns
  thrifty  // me, but not where chunks are scarce
};

// Is the chunk of the class, after a closed word of it was seen? `fresh`: it was free, and this call made it one of it.
template <class Thread, class S>
SIMT_FN bool settle(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t size_class, Asks asks,
                    bool& fresh) {
  constexpr std::uint32_t most_looks = 32;
  constexpr std::uint32_t looks_for_others = 4;
  const auto entry = thread.atomic(space.table[chunk]);
  SIMT_ROLLED
  for (std::uint32_t i = 0; i < most_looks; ++i) {
    if (i == 0 ? asks == Asks::me : i == looks_for_others && asks == Asks::others) {
      fresh = adopt(thread, space, chunk, size_class, false);
      if (fresh) return true;
    }
    const std::uint32_t seen = entry.load(simt::acquire);
    if (seen != free_chunk) return seen == chunk_of_class(size_class);
    if (i == 0 && asks == Asks::thrifty) {
      fresh = adopt(thread, space, chunk, size_class, true);
      if (fresh || thread.atomic(*space.used).load(simt::relaxed) >= plenty(space)) return fresh;
    }
    thread.spin_hint();  // somebody owns it, who gives it a class
  }
  return false;
}

// True if the chunk looks empty. Its first word may be closed or, with `shared`, locked by another thread.
template <class Thread, class S>
SIMT_FN bool seems_empty(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class, bool shared) {
  const std::uint64_t word = thread.atomic(space.words[space.word_number(chunk, 0)]).load(simt::relaxed);
  return word == tagged(size_class.index, size_class.surplus(0)) || is_closed(word) || (shared && word == locked_word);
}

// Of the first member: locks word 0 and makes sure that the chunk is still one of the class.
template <class Thread, class S>
SIMT_FN bool enter(Thread& thread, const S& space, std::uint32_t chunk, SizeClass size_class) {
  const auto word = thread.atomic(space.words[space.word_number(chunk, 0)]);
  const std::uint64_t empty = tagged(size_class.index, size_class.surplus(0));
  std::uint64_t before = word.load(simt::relaxed);
  if (before != empty && !is_closed(before)) return false;
  if (!word.compare_exchange(before, locked_word, simt::acquire, simt::relaxed)) return false;
  if (thread.atomic(space.table[chunk]).load(simt::acquire) == chunk_of_class(size_class.index)) return true;
  word.store(before, simt::release);
  return false;
}

// Locks a word of which no slot is taken.
template <class Thread, class S>
SIMT_FN bool lock_word(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index, SizeClass size_class) {
  const auto word = thread.atomic(space.words[space.word_number(chunk, index)]);
  std::uint64_t seen = tagged(size_class.index, size_class.surplus(index));
  return word.compare_exchange(seen, locked_word, simt::acquire, simt::relaxed) ||
         (is_closed(seen) && word.compare_exchange(seen, locked_word, simt::acquire, simt::relaxed));
}

// Of all members of a group that owns every word of a chunk: `next` becomes its entry in the table, and then the words
// are given away.
template <class Thread, class S, class Group>
SIMT_FN void give_away(Thread& thread, const S& space, const Group& group, std::uint32_t chunk, std::uint32_t words,
                       std::uint32_t next) {
  const std::uint32_t rank = group.thread_rank();
  std::uint32_t epoch = 0;
  if (rank == 0) {
    const auto epochs = thread.atomic(space.epochs[chunk]);
    epoch = epochs.load(simt::relaxed) + (S::bug == Bug::same_epoch ? 0 : 1);
    epochs.store(epoch, simt::relaxed);
  }
  epoch = group.broadcast(epoch);
  const SizeClass size_class = space.size_class(is_class(next) ? next - 1 : 0);
  const std::uint32_t open = is_class(next) ? size_class.words() : 0;
  const auto pass_on = [&] {
    SIMT_ROLLED
    for (std::uint32_t i = rank; i < words; i += group.num_threads()) {
      thread.atomic(space.words[space.word_number(chunk, i)])
          .store(i < open ? tagged(size_class.index, size_class.surplus(i)) : closed_word(epoch), simt::release);
    }
    group.sync();
  };
  if constexpr (S::bug == Bug::late_class) pass_on();
  if (rank == 0) thread.atomic(space.table[chunk]).store(next, simt::release);
  group.sync();  // each of them gives words away after the table has changed
  if constexpr (S::bug != Bug::late_class) pass_on();
}

// Of all members of the group: the empty chunk of a class gets `next` as its entry in the table. False if it is not
// empty or somebody else is busy with it.
template <class Thread, class S, class Group>
SIMT_FN bool retire(Thread& thread, const S& space, const Group& group, std::uint32_t chunk, SizeClass size_class,
                    std::uint32_t next) {
  const std::uint32_t words = size_class.words();
  const std::uint32_t rank = group.thread_rank();
  const std::uint32_t size = group.num_threads();
  const auto reopen = [&](std::uint32_t i) {
    thread.atomic(space.words[space.word_number(chunk, i)])
        .store(tagged(size_class.index, size_class.surplus(i)), simt::release);
  };
  if (!group.any(rank == 0 && enter(thread, space, chunk, size_class))) return false;
  bool failed = false;
  std::uint32_t end = rank + 1;
  SIMT_ROLLED
  for (; end < words; end += size) {
    failed = !lock_word(thread, space, chunk, end, size_class) && S::bug != Bug::partial_retirement;
    if (failed) break;
  }
  if (group.any(failed)) {
    thread.probe(simt::Step::retry);
    SIMT_ROLLED
    for (std::uint32_t i = rank + 1; i < end && i < words; i += size) reopen(i);
    if (rank == 0) reopen(0);
    group.sync();
    return false;
  }
  group.sync();  // the first member speaks for all that locked words
  give_away(thread, space, group, chunk, words, next);
  if (rank == 0 && next == free_chunk) release_chunk(thread, space, chunk);
  return true;
}

}  // namespace allocbench::comb
