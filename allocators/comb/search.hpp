// The slow path serves lanes whose first claim did not win a slot.
//
// The lanes that request slots of one class and have none yet (`mates`) stay together. They search, in this order:
//   1. the word of the first claim, in a chunk for their directory entry; they may have to fetch this chunk
//   2. random words in the chunks of the class; after some rounds without success, the class gets one more chunk
//   3. all chunks of the pool: slots of the class, free chunks, empty chunks of other classes
//   4. all chunks again, for the class with larger slots whose list of chunks is longest
// Every wait is bounded by a fixed number of checks. If step 3 finds nothing, the pool had nothing for the class, or
// other threads worked on some of its memory in every round.
#pragma once

#include "allocators/comb/scan.hpp"

namespace allocbench::comb {

// Place is where a request searches first.
struct Place {
  std::uint32_t entry = 0;  // entry in the directory of the class
  std::uint32_t word = 0;   // word of the chunk that the entry names
  std::uint32_t bits = 0;   // bits to claim in the word
  bool thrifty = false;     // the warp uses little of its share, so its request fetches no chunk if chunks are scarce
};

// Takes slots for the mates from the word of the first claim, which contained `seen`. If another thread has locked the
// word, the mates wait for it, because the lock is held only for a short time. They make at most eight checks in all.
template <class Thread, class S, class Group>
SIMT_FN Taken take_at_home(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class,
                           const simt::Parked<Place>& place, std::uint32_t chunk, std::uint64_t seen) {
  constexpr std::uint32_t patience = 8;
  SIMT_ROLLED
  for (std::uint32_t i = 0; i < patience; ++i) {
    Sight mine;
    if (mates.leader()) {
      mine = seen == unknown_word ? look_at(thread, space, chunk, place->word) : Sight{chunk, place->word, seen};
    }
    seen = unknown_word;
    if (mates.any(mates.leader() && mine.seen == locked_word)) {
      thread.spin_hint();
      continue;
    }
    if (!mates.any(free_slots(mine.seen, size_class, place->word) != 0)) break;
    const Taken taken = take(thread, space, mates, size_class, mine, true, place->bits);
    if (taken.chunk != no_chunk) return taken;
  }
  return {};
}

// Loads a word of a random member of the class or, with `newest`, of one of the newest members. The newest members
// usually have the most free slots. A chunk that has left the class is removed from the list. If the entry has no chunk
// now, `empty` is set to the place of the entry.
template <class Thread, class S>
SIMT_FN Sight look_at_member(Thread& thread, const S& space, const simt::Parked<SizeClass>& size_class,
                             std::uint32_t random, bool newest, std::uint32_t count, std::uint32_t& empty) {
  constexpr std::uint32_t least_newest = 4;
  const std::uint32_t range = newest && count > least_newest ? least_newest + (count - least_newest) / 8 : count;
  const std::uint32_t place = count - 1 - simt::multiply_high(random, range);
  const auto entry = thread.atomic(space.member(size_class->index, place));
  std::uint32_t chunk = entry.load(simt::relaxed);
  if (chunk == no_chunk) empty = place;
  if (chunk < first_chunk) return {};
  const Sight sight =
      look_at(thread, space, chunk, simt::multiply_high(random << 16 | random >> 16, size_class->words()));
  if (tag_of(sight.seen) == size_class->index || tag_of(sight.seen) == locked) return sight;
  if (thread.atomic(space.table[chunk]).load(simt::relaxed) == chunk_of_class(size_class->index)) return sight;
  if (entry.compare_exchange(chunk, no_chunk, simt::relaxed, simt::relaxed)) empty = place;
  return {};
}

// Searches the chunks of the class: each lane checks a random word. The scarcer chunks are, the more rounds pass before
// the class gets another one.
template <class Thread, class S, class Group>
SIMT_FN Taken search_members(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class) {
  constexpr std::uint32_t most_rounds = 64;
  constexpr std::uint32_t most_fetches = 64;
  constexpr std::uint32_t most_failures = 3;  // to get one more chunk
  constexpr std::uint32_t unknown = 0xffffffffu;
  const std::uint32_t capacity = 1u << space.directory_log2;
  std::uint32_t fresh = no_chunk;         // has just been fetched
  simt::Parked<std::uint32_t> since = 0;  // rounds without another chunk
  simt::Parked<std::uint32_t> fetches = 0;
  simt::Parked<std::uint32_t> failures = 0;
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> round = 0; round < most_rounds; ++round) {
    const auto number = thread.atomic(space.member_counts[size_class->index]);
    std::uint32_t count = mates.broadcast(mates.leader() ? number.load(simt::relaxed) : 0);
    if (count > capacity) count = capacity;
    const std::uint32_t common = common_random(thread, mates);
    const std::uint32_t random = scrambled(common + mates.thread_rank());
    std::uint32_t empty = unknown;
    Sight mine;
    if (fresh != no_chunk) {
      mine = look_at(thread, space, fresh, simt::multiply_high(random, size_class->words()));
    } else if (count != 0) {
      mine = look_at_member(thread, space, size_class, random, ((mates.thread_rank() + round) & 1) != 0, count, empty);
    }
    const simt::LaneMask empties = mates.ballot(empty != unknown);
    if (empties != 0) empty = mates.shfl_lane(empty, simt::count_trailing_zeros(empties));
    const bool lost = mates.any(free_slots(mine.seen, size_class, mine.index) != 0);
    const Taken taken = take(thread, space, mates, size_class, mine, false, 0);
    if (taken.chunk != no_chunk) return taken;
    if (fresh != no_chunk && lost) continue;
    const std::uint32_t unused = chunks_to_get(thread, space, mates);
    const std::uint32_t patience = 2u << scarcity(space, unused);
    // If a new chunk is already full, many requests need slots, so the class gets the next chunk at once.
    since = fresh != no_chunk ? patience - 1 : since + 1;
    fresh = no_chunk;
    if (since < patience && count != 0) continue;
    since = 0;
    if (empties == 0) {
      // Requests that fail together fetch at most `beyond` + 1 chunks, because other classes need chunks as well.
      const std::uint32_t beyond = count < unused / 64 ? count : unused / 64;
      const std::uint32_t room = capacity - count;
      if (room != 0) empty = count + simt::multiply_high(common, beyond < room ? 1 + beyond : room);
    }
    if (empty == unknown) break;  // the list is full
    fresh = fetch_member(thread, space, mates, size_class->index, empty);
    if (fresh != no_chunk && ++fetches < most_fetches) round = 0;
    if (fresh == no_chunk && (count == 0 || ++failures == most_failures)) break;
  }
  return {};
}

// Returns the class with the longest list of members among the classes with larger slots, or 0 if all lists are empty.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t lending_class(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class) {
  std::uint32_t best = 0;
  std::uint32_t most = 0;
  SIMT_ROLLED
  for (std::uint32_t i = size_class + 1; i < SizeClass::count(space.chunk_log2); ++i) {
    const std::uint32_t count = mates.leader() ? thread.atomic(space.member_counts[i]).load(simt::relaxed) : 0;
    if (count > most) best = i;
    if (count > most) most = count;
  }
  return mates.broadcast(best);
}

// Returns whether the chunk belongs to this class.
template <class Thread, class S, class Group>
SIMT_FN bool belongs(Thread& thread, const S& space, const Group& mates, std::uint32_t chunk,
                     std::uint32_t size_class) {
  return chunk >= first_chunk && mates.any(mates.leader() && thread.atomic(space.table[chunk]).load(simt::relaxed) ==
                                                                 chunk_of_class(size_class));
}

// Returns a slot for each of the mates, or null. `chunk` is the chunk from the directory, and `seen` is the word that
// the first mate found there, or `unknown_word`.
template <class Thread, class S, class Group>
SIMT_FN void* search(Thread& thread, const S& space, Group mates, SizeClass the_class, Place first_place,
                     std::uint32_t chunk, std::uint64_t seen) {
  constexpr std::uint32_t most_chunks = 3;
  simt::Parked<SizeClass> size_class = the_class;
  const simt::Parked<Place> place = first_place;
  simt::Parked<bool> moves = true;  // the directory entry gets the chunk that is found
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> i = 0; i < most_chunks; ++i) {
    if (chunk >= first_chunk) {
      const bool tagged = mates.any(mates.leader() && tag_of(seen) == size_class->index);
      const Taken taken = take_at_home(thread, space, mates, size_class, place, chunk, seen);
      if (taken.chunk != no_chunk) return space.block(taken.chunk, size_class, taken.slot);
      if (tagged || belongs(thread, space, mates, chunk, size_class->index)) {
        moves = false;
        break;
      }
    }
    if (place->thrifty && scarcity(space, unused_chunks(thread, space, mates)) != 0) break;
    const std::uint32_t batch = place->thrifty || mates.num_threads() < space.batch ? 1 : space.batch;
    // If the entry had no chunk, only warps at every eighth word of every `batch`-th entry request one immediately.
    // Other warps first wait for the chunk. In a new pool all warps reach this point together, and accesses to one word
    // of the map are serialised.
    const bool asks = place->word % 8 == 0 && place->entry % batch == 0;
    const std::uint32_t old = chunk;
    chunk =
        asks || old >= first_chunk ? no_chunk : wait_for_entry(thread, space, mates, size_class->index, place->entry);
    if (chunk == no_chunk)
      chunk = renew_entry(thread, space, mates, size_class->index, place->entry, old, batch, place->thrifty);
    if (chunk == no_chunk) break;
    seen = closed_word;  // the words of a new chunk are closed
  }
  const Taken taken = search_members(thread, space, mates, size_class);
  if (taken.chunk != no_chunk) {
    if (moves) thread.atomic(space.entry(size_class->index, place->entry)).store(taken.chunk, simt::relaxed);
    return space.block(taken.chunk, size_class, taken.slot);
  }
  // The loop contains the only call of scan(), because a second call would need more registers.
  SIMT_ROLLED
  for (bool borrows = false;; borrows = true) {
    void* const block = scan(thread, space, mates, size_class, place->entry);
    if (block != nullptr || borrows) return block;
    const std::uint32_t lender = lending_class(thread, space, mates, size_class->index);
    if (lender == 0) return nullptr;
    size_class = space.size_class(lender);
  }
}

}  // namespace allocbench::comb
