// The slow path: what lanes do whose first claim did not give them a slot.
//
// All lanes of one class come together (`mates`) and stay together until each has its slot:
//   1. the word of the first claim; the same word of the chunk that their directory entry asks for first, and of the
//      one that it names
//   2. the same word of other chunks: 32 of the pool at a time
//   3. words at random in the chunks of the class; after some rounds without success one more chunk
//   4. all chunks of the pool: slots of the own class, free chunks, empty chunks of other classes
//   5. the same for the class with larger slots that has most chunks
// Nobody waits for anybody for more than a fixed number of looks. If the fourth step finds nothing, there was nothing
// for the class.
#pragma once

#include "allocators/comb/scan.hpp"

namespace allocbench::comb {

// Where a request looks first.
struct Place {
  std::uint32_t entry = 0;  // of the directory of its class
  std::uint32_t word = 0;   // of the chunk that is found there
  std::uint32_t bits = 0;   // of the word
  bool thrifty = false;     // most of the share is not used: no chunk for it where chunks are scarce
};

// What a group knows about the chunk that it tries.
struct Home {
  std::uint32_t chunk = no_chunk;
  std::uint64_t seen = unknown_word;  // in the word of the place
};

// Slots of the word of the place in a chunk, which may be a free one. A word that somebody locks will be open in a
// moment. `belongs`: the chunk is one of the class.
template <class Thread, class S, class Group>
SIMT_FN Taken take_at_home(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class,
                           const simt::Parked<Place>& place, Home home, Asks asks, bool& belongs) {
  constexpr std::uint32_t patience = 8;
  belongs = false;
  SIMT_ROLLED
  for (std::uint32_t i = 0; i < patience; ++i) {
    Sight mine;
    bool fresh = false;
    bool is_mine = false;
    if (mates.leader()) {
      mine = home.seen == unknown_word ? look_at(thread, space, home.chunk, place->word)
                                       : Sight{home.chunk, place->word, home.seen};
      is_mine = is_closed(mine.seen) ? settle(thread, space, home.chunk, size_class->index, asks, fresh)
                                     : tag_of(mine.seen) == size_class->index;
    }
    home.seen = unknown_word;
    if (mates.any(mates.leader() && mine.seen == locked_word)) {
      thread.spin_hint();
      continue;
    }
    belongs = mates.any(is_mine);
    if (!belongs || !mates.any(free_slots(mine.seen, size_class, place->word) != 0)) break;
    // The place in the list is fetched while the word is opened.
    const std::uint32_t listed = fresh ? extend_list(thread, space, size_class->index, 1) : 0;
    const Taken taken = take(thread, space, mates, size_class, mine, true, place->bits, true);
    if (fresh) {
      thread.atomic(space.entry(size_class->index, place->entry)).store(home.chunk, simt::relaxed);
      enlist(thread, space, size_class->index, listed, home.chunk);
    }
    if (taken.chunk != no_chunk) return taken;
  }
  return {};
}

// A chunk whose word of the place may serve all mates, of those that the lanes look at. It has the class and room, else
// it is free, else empty and of another class. Groups with the same entry look at the same chunks in the same order, so
// that they meet in few chunks, where each has a word of its own. `done`: it is better to search: many words have a
// little room.
template <class Thread, class S, class Group>
SIMT_FN Home look_around(Thread& thread, const S& space, const Group& mates, const simt::Parked<SizeClass>& size_class,
                         const simt::Parked<Place>& place, std::uint32_t round, bool& done) {
  constexpr std::uint32_t most_words = 4;  // that each of the mates locks to retire a chunk
  const std::uint32_t number = (size_class->index << space.directory_log2) + place->entry;
  const std::uint32_t look = round * mates.num_threads() + mates.thread_rank();
  const std::uint32_t random = scrambled(scrambled(number) + look * 0x9e3779b9u);
  const std::uint32_t chunk = first_chunk + simt::multiply_high(random, space.chunks);
  const std::uint32_t entry = thread.atomic(space.table[chunk]).load(simt::relaxed);
  const Sight mine = look_at(thread, space, chunk, place->word);
  const bool own = entry == chunk_of_class(size_class->index);
  const std::uint32_t room = own ? simt::popcount(free_slots(mine.seen, size_class, place->word)) : 0;
  simt::LaneMask found = mates.ballot(room >= mates.num_threads());
  done = found == 0 && mates.any(room != 0);
  if (done) return {};
  if (found == 0) found = mates.ballot(entry == free_chunk);
  if (found != 0) {
    const std::uint32_t lane = simt::count_trailing_zeros(found);
    mates.sync();  // the acquire of the look holds for all
    return {mates.shfl_lane(chunk, lane), mates.shfl_lane(mine.seen, lane)};
  }
  // Those with large slots have few words, so they come first.
  const bool takes = obtainable(thread, space, chunk, entry, size_class->index, true) &&
                     space.size_class(entry - 1).words() <= most_words * mates.num_threads();
  const std::uint32_t largest = mates.reduce_max(takes ? entry : 0);
  if (largest == 0) return {};
  const std::uint32_t lane = simt::count_trailing_zeros(mates.ballot(takes && entry == largest));
  const std::uint32_t other = mates.shfl_lane(chunk, lane);
  if (obtain(thread, space, mates, other, largest, size_class->index) && mates.leader()) {
    enlist(thread, space, size_class->index, extend_list(thread, space, size_class->index, 1), other);
  }
  return {other, unknown_word};
}

// A word of a random member of the class; every second look is at one of the newest members, which are the emptiest. A
// chunk that has left the class leaves the list. `empty`: an entry of the list that has no chunk.
template <class Thread, class S>
SIMT_FN Sight look_at_member(Thread& thread, const S& space, const simt::Parked<SizeClass>& size_class,
                             std::uint32_t random, bool newest, std::uint32_t count, std::uint32_t& empty) {
  constexpr std::uint32_t least_newest = 4;
  const std::uint32_t range = newest && count > least_newest ? least_newest + (count - least_newest) / 16 : count;
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

// In the chunks of the class: each lane looks at a word at random. The scarcer chunks are, the more rounds pass before
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
    const Taken taken = take(thread, space, mates, size_class, mine, false, 0, false);
    if (taken.chunk != no_chunk) return taken;
    if (fresh != no_chunk && lost) continue;
    const std::uint32_t unused = chunks_to_get(thread, space, mates);
    const std::uint32_t patience = 1 + scarcity(space, unused);
    // A chunk that was new a moment ago and is full shows how many want one.
    since = fresh != no_chunk ? patience - 1 : since + 1;
    fresh = no_chunk;
    if (since < patience && count != 0) continue;
    since = 0;
    if (empties == 0) {
      // Those who fail together fetch this many chunks at most: other classes need some as well.
      const std::uint32_t beyond = count < unused / 64 ? count : unused / 64;
      const std::uint32_t room = capacity - count;
      if (room != 0) empty = count + simt::multiply_high(common, beyond < room ? 1 + beyond : room);
    }
    if (empty == unknown) break;  // the class has all chunks
    fresh = fetch_member(thread, space, mates, size_class->index, empty);
    if (fresh != no_chunk && ++fetches < most_fetches) round = 0;
    if (fresh == no_chunk && (count == 0 || ++failures == most_failures)) break;
  }
  return {};
}

// The class with larger slots that has most chunks, or had; 0 if there is none.
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

// Slots of words at the place, in one chunk after the other. Whole warps look around in the pool; others leave most of
// a word unused and meet in few chunks.
template <class Thread, class S, class Group>
SIMT_FN Taken search_places(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class,
                            const simt::Parked<Place>& place, Home home) {
  constexpr std::uint32_t most_looks = 6;  // at other chunks
  const simt::Parked<std::uint32_t> own = first_chunk + own_chunk(space, size_class->index, place->entry);
  const bool asked = home.chunk >= first_chunk && home.chunk != own;  // the directory said so
  // Whole warps of a new pool come all at once; an eighth of them asks for chunks.
  const Asks asks = place->thrifty ? Asks::thrifty : place->word % 8 == 0 ? Asks::me : Asks::others;
  const simt::Parked<std::uint32_t> steps = place->thrifty ? 3 : 3 + most_looks;
  simt::Parked<std::uint32_t> round = 0;
  bool belongs = false;
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> step = 0; step < steps; ++step) {
    if (step == 1) {
      if (home.chunk == own || belongs) continue;
      home = {own, unknown_word};
    } else if (step == 2) {
      if (asked) continue;
      const auto entry = thread.atomic(space.entry(size_class->index, place->entry));
      const std::uint32_t listed = mates.broadcast(mates.leader() ? entry.load(simt::relaxed) : 0);
      if (listed == own || listed == home.chunk) continue;
      home = {listed, unknown_word};
    } else if (step > 2) {
      bool done = false;
      home = look_around(thread, space, mates, size_class, place, round, done);
      if (done) break;
      if (home.chunk == no_chunk) ++round;  // else again, if somebody else was faster
    }
    if (home.chunk < first_chunk) continue;
    const Taken taken = take_at_home(thread, space, mates, size_class, place, home, asks, belongs);
    if (taken.chunk == no_chunk) continue;
    if (step > 1) thread.atomic(space.entry(size_class->index, place->entry)).store(taken.chunk, simt::relaxed);
    return taken;
  }
  return {};
}

// A slot for each of the mates, who are all without one. `home`: what the first of them tried.
template <class Thread, class S, class Group>
SIMT_FN void* search(Thread& thread, const S& space, Group mates, SizeClass the_class, Place first_place, Home home) {
  simt::Parked<SizeClass> size_class = the_class;
  const simt::Parked<Place> place = first_place;
  Taken taken = search_places(thread, space, mates, size_class, place, home);
  if (taken.chunk == no_chunk) {
    taken = search_members(thread, space, mates, size_class);
    // A word of the place may have room for those who come next.
    if (taken.chunk != no_chunk && taken.slot / 32 == place->word) {
      thread.atomic(space.entry(size_class->index, place->entry)).store(taken.chunk, simt::relaxed);
    }
  }
  if (taken.chunk != no_chunk) return space.block(taken.chunk, size_class, taken.slot);
  // A loop, because two scans in the code would need more registers.
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
