// The slow path: what lanes do whose first claim did not give them a slot.
//
// All lanes of one class come together (`mates`) and stay together until each has its slot:
//   1. around the word of the first claim, in its chunk: every lane looks at another word
//   2. another chunk for the directory entry: a free one, or the one that somebody else has just fetched
//   3. all chunks of the pool: slots of the own class, free chunks, empty chunks of other classes
// Nobody waits for anybody for more than a fixed number of looks. If the third step finds nothing, there was nothing.
#pragma once

#include "allocators/comb/retirement.hpp"

namespace allocbench::comb {

inline constexpr std::uint32_t no_slot = 0xffffffffu;

// Where a request looks first.
struct Place {
  std::uint32_t entry = 0;  // of the directory of its class
  std::uint32_t word = 0;   // of the chunk that is found there
  std::uint32_t bits = 0;   // of the word
  bool thrifty = false;     // most of the share is not used: it may be shared if the pool is half full
};

template <class Thread, class Group>
SIMT_FN std::uint32_t common_random(Thread& thread, const Group& group) {
  return group.broadcast(static_cast<std::uint32_t>(thread.clock()) * 0x9e3779b1u);
}

// How to go through the words of a chunk.
struct Tour {
  std::uint32_t start = 0;
  std::uint32_t looks = 0;            // words to look at without success, at least
  std::uint32_t bits = 0;             // what to take if the first word is closed
  bool home = false;                  // only the first word
  std::uint64_t seen = unknown_word;  // in the first word, a moment ago
  bool jumps = false;                 // random words, else all in turn
};

// Slots of one chunk for the mates, of whom those without a slot stay mates. Each lane looks at another word.
// `unsettled`: somebody owned a word or was faster.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t take_from_chunk(Thread& thread, const S& space, Group& mates, SizeClass size_class,
                                      std::uint32_t chunk, Tour tour, bool& unsettled) {
  // A word that somebody locks will be open in a moment, and a claim that others beat may be repeated.
  constexpr std::uint32_t patience_per_look = 8;
  const std::uint32_t words = size_class.words();
  std::int32_t patience = static_cast<std::int32_t>((tour.looks < words ? tour.looks : words) * patience_per_look);
  while (patience > 0) {
    const std::uint32_t rank = mates.thread_rank();
    const std::uint32_t wanted = mates.num_threads();
    std::uint32_t index = tour.start + rank;
    if (index >= words) index -= words;
    const bool looks = rank < (tour.home ? 1 : words);
    std::uint64_t seen = tour.seen;
    if (looks && seen == unknown_word) {
      seen = thread.atomic(space.words[space.word_number(chunk, index)]).load(simt::relaxed);
    }
    tour.seen = unknown_word;
    const std::uint32_t here = looks ? simt::popcount(free_slots(seen, size_class, index)) : 0;
    // One word serves all if it can; else each lane that found something helps itself. At home there is one word.
    simt::LaneMask givers = mates.ballot(here >= wanted);
    const bool one_gives = givers != 0 || tour.home;
    givers = givers != 0 ? givers & (0u - givers) : mates.ballot(here != 0);
    if (givers == 0) {
      const bool waits = mates.any(looks && seen == locked_word);
      if (waits) unsettled = true;
      if (waits && tour.home) {
        thread.spin_hint();
        --patience;
        continue;
      }
      patience -= static_cast<std::int32_t>((tour.home ? 1 : wanted) * patience_per_look);
      tour.start = tour.jumps ? simt::multiply_high(common_random(thread, mates), words) : tour.start + wanted;
      if (tour.start >= words) tour.start -= words;
      continue;
    }
    std::uint32_t won = 0;
    if ((givers >> thread.lane() & 1) != 0) {
      won = take_slots(thread, space, chunk, index, size_class, seen, one_gives ? wanted : 1, tour.bits);
    }
    std::uint32_t slot = no_slot;
    if (one_gives) {
      const std::uint32_t giver = simt::count_trailing_zeros(givers);
      won = mates.shfl_lane(won, giver);
      index = mates.shfl_lane(index, giver);
      if (rank < simt::popcount(won)) slot = index * 32 + simt::nth_set_bit(won, rank);
    } else if (won != 0) {
      slot = index * 32 + simt::count_trailing_zeros(won);
    }
    mates.sync();  // the giver's acquire holds for all
    const Group rest = mates.partition(slot == no_slot);
    if (slot != no_slot) return slot;
    if (rest.num_threads() == wanted) {
      unsettled = true;
      --patience;
    }
    mates = rest;
  }
  return no_slot;
}

// The number, from 0, of the chunk that a directory entry asks for first. In a pool with ample room nobody else does.
template <class S>
SIMT_FN std::uint32_t own_chunk(const S& space, std::uint32_t size_class, std::uint32_t entry) {
  const std::uint32_t part = (space.chunks / SizeClass::count(space.chunk_log2) + 1) & ~(space.batch - 1);
  return (entry + size_class * part) & space.own_mask;
}

// Owns the chunks that the directory entries of `batch` ask for, as far as they are free, with one atomic: whoever
// needs one will need the others. Those who come too late find the class in the table. Returns the chunk of `place`, or
// no_chunk if somebody else has it.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_own_chunks(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                       std::uint32_t place, std::uint32_t batch) {
  constexpr std::uint32_t most_looks = 32;
  const std::uint32_t wanted = own_chunk(space, size_class, place);
  const std::uint32_t lowest = wanted & ~(batch - 1);
  const std::uint32_t bits =
      mates.num_threads() < batch ? 1u << wanted % 32 : (0xffffffffu >> (32 - batch)) << lowest % 32;
  std::uint32_t before = 0;
  if (mates.leader()) {
    before = thread.atomic(space.in_use[wanted / 32]).fetch_or(bits, simt::acquire);
    const std::uint32_t owned = simt::popcount(bits & ~before);
    if (owned != 0) thread.atomic(*space.used).fetch_add(owned, simt::relaxed);
  }
  before = mates.broadcast(before);
  mates.sync();  // the leader's acquire holds for all
  // Each lane gives the class to one chunk, the leader to the one that is wanted.
  const std::uint32_t mine = lowest | ((wanted + mates.thread_rank()) & (batch - 1));
  if (mates.thread_rank() < batch && (bits & ~before) >> mine % 32 & 1) {
    give_class(thread, space, first_chunk + mine, size_class);
    const std::uint32_t entry = (place & ~(batch - 1)) | (mine & (batch - 1));
    thread.atomic(space.entry(size_class, entry)).store(first_chunk + mine, simt::relaxed);
  }
  bool has_class = (before >> wanted % 32 & 1) == 0;
  if (!has_class && mates.leader()) {
    std::uint32_t entry = thread.atomic(space.table[first_chunk + wanted]).load(simt::relaxed);
    for (std::uint32_t i = 0; i < most_looks && entry == free_chunk; ++i) {
      thread.spin_hint();
      entry = thread.atomic(space.table[first_chunk + wanted]).load(simt::relaxed);
    }
    has_class = entry == chunk_of_class(size_class);
    if (has_class) thread.atomic(space.entry(size_class, place)).store(first_chunk + wanted, simt::relaxed);
  }
  return mates.any(mates.leader() && has_class) ? first_chunk + wanted : no_chunk;
}

// Any free chunk for the class; no_chunk if there seems to be none.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_any_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class) {
  if (mates.any(mates.leader() && thread.atomic(*space.used).load(simt::relaxed) >= space.chunks)) return no_chunk;
  // The whole map, in windows of a word per lane. An odd step visits every window of a power of two of them.
  const std::uint32_t size = mates.num_threads();
  const std::uint32_t windows = 1u << (32 - simt::count_leading_zeros((space.map_words() - 1) / size));
  const std::uint32_t random = common_random(thread, mates);
  for (std::uint32_t i = 0; i < windows; ++i) {
    const std::uint32_t word = ((random + i * (random | 1)) & (windows - 1)) * size + mates.thread_rank();
    std::uint32_t unused = word < space.map_words() ? ~thread.atomic(space.in_use[word]).load(simt::relaxed) : 0;
    if (word == space.map_words() - 1) unused &= 0xffffffffu >> (31 - (space.chunks - 1) % 32);
    std::uint32_t chunk = no_chunk;
    for (simt::LaneMask rest = mates.ballot(unused != 0); rest != 0; rest &= rest - 1) {
      const std::uint32_t lane = simt::count_trailing_zeros(rest);
      if (thread.lane() == lane) {
        const std::uint32_t bit = simt::nth_set_bit(unused, simt::multiply_high(random, simt::popcount(unused)));
        chunk = first_chunk + word * 32 + bit;
        if (!adopt(thread, space, chunk, size_class)) chunk = no_chunk;
      }
      const std::uint32_t found = mates.shfl_lane(chunk, lane);
      if (found != no_chunk) return found;
    }
  }
  return no_chunk;
}

// A chunk for the directory entry that held `seen`; no_chunk if there is none to be had.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t renew_entry(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                  std::uint32_t place, std::uint32_t seen, std::uint32_t batch) {
  constexpr std::uint32_t most_looks = 64;
  std::uint32_t found = fetch_own_chunks(thread, space, mates, size_class, place, batch);
  if (found != no_chunk && found != seen) return found;
  // Any other chunk: one group fetches it, the others wait for it.
  const auto entry = thread.atomic(space.entry(size_class, place));
  bool fetches = false;
  if (mates.leader()) {
    found = seen;
    fetches = seen != fetching && entry.compare_exchange(found, fetching, simt::relaxed, simt::relaxed);
    for (std::uint32_t i = 0; !fetches && found == fetching && i < most_looks; ++i) {
      thread.spin_hint();
      found = entry.load(simt::relaxed);
    }
    if (found == fetching || found == seen) found = no_chunk;
  }
  if (!mates.any(fetches)) return mates.broadcast(found);
  found = fetch_any_chunk(thread, space, mates, size_class);
  if (mates.leader()) entry.store(found == no_chunk ? seen : found, simt::relaxed);
  return found;
}

// Makes a chunk that is free, or seems to be an empty one of another class, one of this class.
template <class Thread, class S, class Group>
SIMT_FN bool obtain(Thread& thread, const S& space, const Group& mates, std::uint32_t chunk, std::uint32_t entry,
                    std::uint32_t size_class) {
  if (entry != free_chunk) {
    return retire(thread, space, mates, chunk, space.size_class(entry - 1), chunk_of_class(size_class));
  }
  return mates.any(mates.leader() && adopt(thread, space, chunk, size_class));
}

// The next chunk of a round trip that may have a slot: one of the class, a free one, or one that seems to be empty.
struct Candidate {
  std::uint32_t at = 0;  // steps from the start; all chunks = none is left
  std::uint32_t chunk = no_chunk;
  std::uint32_t entry = free_chunk;
};

template <class Thread, class S, class Group>
SIMT_FN Candidate next_candidate(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                 std::uint32_t start, std::uint32_t at) {
  for (; at < space.chunks; at += mates.num_threads()) {
    Candidate mine{at + mates.thread_rank()};
    bool usable = false;
    if (mine.at < space.chunks) {
      const std::uint32_t i = start + mine.at;
      mine.chunk = first_chunk + (i < space.chunks ? i : i - space.chunks);
      mine.entry = thread.atomic(space.table[mine.chunk]).load(simt::acquire);
      usable = mine.entry == free_chunk || mine.entry == chunk_of_class(size_class) ||
               (is_class(mine.entry) && seems_empty(thread, space, mine.chunk, space.size_class(mine.entry - 1)));
    }
    const simt::LaneMask all = mates.ballot(usable);
    if (all == 0) continue;
    const std::uint32_t lane = simt::count_trailing_zeros(all);
    return {mates.shfl_lane(mine.at, lane), mates.shfl_lane(mine.chunk, lane), mates.shfl_lane(mine.entry, lane)};
  }
  return {space.chunks};
}

// One slot for each mate from any word of the chunk; every lane helps itself, and all words are looked at.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t glean(Thread& thread, const S& space, const Group& mates, SizeClass size_class,
                            std::uint32_t chunk, bool& unsettled) {
  constexpr std::uint32_t most_losses = 8;
  const std::uint32_t words = size_class.words();
  // More lanes than words: each lane goes through all of them.
  const std::uint32_t step = mates.num_threads() < words ? mates.num_threads() : 1;
  std::uint32_t losses = 0;
  for (std::uint32_t index = step == 1 ? 0 : mates.thread_rank(); index < words;) {
    const std::uint64_t seen = thread.atomic(space.words[space.word_number(chunk, index)]).load(simt::relaxed);
    if (free_slots(seen, size_class, index) == 0 || losses == most_losses) {
      if (seen == locked_word || losses == most_losses) unsettled = true;
      losses = 0;
      index += step;
      continue;
    }
    const std::uint32_t won = take_slots(thread, space, chunk, index, size_class, seen, 1, 0);
    if (won != 0) return index * 32 + simt::count_trailing_zeros(won);
    ++losses;
  }
  return no_slot;
}

// Goes through all chunks, again if somebody owned memory for a moment. A scan that began after mine and found nothing
// speaks for me as well.
template <class Thread, class S, class Group>
SIMT_FN void* scan(Thread& thread, const S& space, Group mates, SizeClass size_class, std::uint32_t place) {
  constexpr std::uint32_t most_rounds = 4;
  Scans& scans = space.scans[size_class.index];
  std::uint64_t number = 0;
  if (mates.leader()) number = thread.atomic(scans.begun).fetch_add(std::uint64_t{1}, simt::acq_rel) + 1;
  const std::uint32_t start = simt::multiply_high(common_random(thread, mates), space.chunks);
  for (std::uint32_t round = 0; round < most_rounds; ++round) {
    bool unsettled = false;
    for (std::uint32_t at = 0;; ++at) {
      if (mates.any(number != 0 && thread.atomic(scans.vain).load(simt::acquire) > number)) return nullptr;
      const Candidate next = next_candidate(thread, space, mates, size_class.index, start, at);
      at = next.at;
      if (at >= space.chunks) break;
      if (next.entry != chunk_of_class(size_class.index) &&
          !obtain(thread, space, mates, next.chunk, next.entry, size_class.index)) {
        unsettled = true;
        continue;
      }
      const std::uint32_t slot = glean(thread, space, mates, size_class, next.chunk, unsettled);
      mates.sync();
      const Group rest = mates.partition(slot == no_slot);
      if (slot != no_slot) {
        thread.atomic(space.entry(size_class.index, place)).store(next.chunk, simt::relaxed);
        return space.block(next.chunk, size_class, slot);
      }
      mates = rest;
    }
    if (!mates.any(unsettled)) {
      if (number != 0) thread.atomic(scans.vain).fetch_max(number, simt::acq_rel);
      break;
    }
    thread.spin_hint();
  }
  return nullptr;
}

// Is the chunk of this class?
template <class Thread, class S, class Group>
SIMT_FN bool belongs(Thread& thread, const S& space, const Group& mates, std::uint32_t chunk,
                     std::uint32_t size_class) {
  return chunk >= first_chunk && mates.any(mates.leader() && thread.atomic(space.table[chunk]).load(simt::relaxed) ==
                                                                 chunk_of_class(size_class));
}

template <class Thread, class S, class Group>
SIMT_FN bool half_full(Thread& thread, const S& space, const Group& mates) {
  return mates.any(mates.leader() && thread.atomic(*space.used).load(simt::relaxed) >= space.chunks / 2);
}

// In a pool that is half full a directory entry may get the chunk of another one, no chunk of its own: that of half, a
// quarter ... of its number, which are the likelier to have one.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t share_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                  std::uint32_t place) {
  std::uint32_t chunk = no_chunk;
  if (half_full(thread, space, mates) && mates.leader()) {
    const std::uint32_t in_part = (1u << (space.directory_log2 - 3)) - 1;
    for (std::uint32_t i = place & in_part; i != 0 && chunk == no_chunk;) {
      i /= 2;
      chunk = thread.atomic(space.entry(size_class, (place & ~in_part) | i)).load(simt::relaxed);
      if (chunk < first_chunk || thread.atomic(space.table[chunk]).load(simt::relaxed) != chunk_of_class(size_class)) {
        chunk = no_chunk;
      }
    }
    if (chunk != no_chunk) thread.atomic(space.entry(size_class, place)).store(chunk, simt::relaxed);
  }
  return mates.broadcast(chunk);
}

// The chunk of other warps with groups of this size: every lane looks at another entry of that part of the directory.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t chunk_of_others(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                      std::uint32_t place, std::uint32_t random) {
  const std::uint32_t in_part = (1u << (space.directory_log2 - 3)) - 1;
  const std::uint32_t other = (random + mates.thread_rank() * 0x9e3779b1u) >> 8 & in_part;
  const std::uint32_t chunk = thread.atomic(space.entry(size_class, (place & ~in_part) | other)).load(simt::relaxed);
  const simt::LaneMask found = mates.ballot(chunk >= first_chunk);
  return found == 0 ? no_chunk : mates.shfl_lane(chunk, simt::count_trailing_zeros(found));
}

// In chunks that nobody calls his own: random places in a part of the class's directory that grows with the number of
// chunks fetched for it. About every second place has a chunk. Two tries are for those, further ones may fetch more.
// Groups that may share go to the chunks of others first if the pool is half full: with mixed sizes the shares of all
// warps may be more than the pool while little of each is used, and chunks fetched elsewhere would use it up.
template <class Thread, class S, class Group>
SIMT_FN void* search_elsewhere(Thread& thread, const S& space, Group& mates, SizeClass size_class, Place own) {
  constexpr std::uint32_t most_tries = 8;
  constexpr std::uint32_t tries_with_others = 5;
  constexpr std::uint32_t tries_without_fetching = 3;
  constexpr std::uint32_t looks = 4;
  constexpr std::uint32_t least_range = 8;
  const auto fetched = thread.atomic(space.fetched_elsewhere[size_class.index]);
  const std::uint32_t most = 1u << space.directory_log2;
  const std::uint32_t with_others = own.thrifty && half_full(thread, space, mates) ? tries_with_others : 0;
  bool unsettled = false;
  for (std::uint32_t i = 0; i < most_tries; ++i) {
    std::uint32_t range = least_range + 2 * mates.broadcast(mates.leader() ? fetched.load(simt::relaxed) : 0);
    if (range > most) range = most;
    const std::uint32_t random = common_random(thread, mates);
    const std::uint32_t at = simt::multiply_high(random, range);
    const std::uint32_t place = at ^ (6u << (space.directory_log2 - 3));
    std::uint32_t chunk =
        i < with_others
            ? chunk_of_others(thread, space, mates, size_class.index, own.entry, random)
            : mates.broadcast(mates.leader() ? thread.atomic(space.entry(size_class.index, place)).load(simt::relaxed)
                                             : 0);
    if (chunk < first_chunk) {
      if (i < with_others) continue;
      if (i < tries_without_fetching && range != least_range) continue;
      chunk = renew_entry(thread, space, mates, size_class.index, place, chunk, 1);
      if (chunk == no_chunk) continue;
      if (mates.leader()) fetched.fetch_add(1u, simt::relaxed);
    }
    const Tour tour{
        .start = simt::multiply_high(random * 0x9e3779b1u, size_class.words()), .looks = looks, .jumps = true};
    const std::uint32_t slot = take_from_chunk(thread, space, mates, size_class, chunk, tour, unsettled);
    if (slot != no_slot) return space.block(chunk, size_class, slot);
    if (i >= with_others && !belongs(thread, space, mates, chunk, size_class.index)) {
      renew_entry(thread, space, mates, size_class.index, place, chunk, 1);
    }
  }
  return nullptr;
}

// A slot for each of the mates, who are all without one. `chunk` is what the directory said, `seen` what the first of
// them found in the word there, or `unknown_word`.
template <class Thread, class S, class Group>
SIMT_FN void* search(Thread& thread, const S& space, Group mates, SizeClass size_class, Place place,
                     std::uint32_t chunk, std::uint64_t seen) {
  constexpr std::uint32_t most_chunks = 3;
  bool unsettled = false;
  for (std::uint32_t i = 0; i < most_chunks; ++i) {
    if (chunk >= first_chunk) {
      const Tour tour{place.word, 1, place.bits, true, seen};
      const std::uint32_t slot = take_from_chunk(thread, space, mates, size_class, chunk, tour, unsettled);
      if (slot != no_slot) return space.block(chunk, size_class, slot);
      if (belongs(thread, space, mates, chunk, size_class.index)) break;
    }
    if (place.thrifty && chunk != fetching) {
      const std::uint32_t other = share_chunk(thread, space, mates, size_class.index, place.entry);
      if (other != no_chunk) {
        chunk = other;
        seen = unknown_word;
        continue;
      }
    }
    chunk = renew_entry(thread, space, mates, size_class.index, place.entry, chunk, place.thrifty ? 1 : space.batch);
    if (chunk == no_chunk) break;
    seen = closed_word;  // as a chunk is that has just been fetched
  }
  if (void* const block = search_elsewhere(thread, space, mates, size_class, place); block != nullptr) return block;
  return scan(thread, space, mates, size_class, place.entry);
}

}  // namespace allocbench::comb
