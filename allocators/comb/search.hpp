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
inline constexpr std::uint32_t all_looks = 0xffffffffu;

// Where a request looks first.
struct Place {
  std::uint32_t entry = 0;  // of the directory of its class
  std::uint32_t word = 0;   // of the chunk that is found there
  std::uint32_t bits = 0;   // of the word
};

template <class Thread, class Group>
SIMT_FN std::uint32_t common_random(Thread& thread, const Group& group) {
  return group.broadcast(static_cast<std::uint32_t>(thread.clock()) * 0x9e3779b1u) >> 7;
}

// How to go through the words of a chunk.
struct Tour {
  std::uint32_t start = 0;
  std::uint32_t looks = 0;  // words to look at without success, at least
  std::uint32_t bits = 0;   // what to take if the first word is closed
  bool home = false;        // the first look is at the first word alone, then come random ones
  bool is_closed = false;   // so it was a moment ago
};

// Slots of one chunk for the mates, of whom those without a slot stay mates. Each lane looks at another word.
// `unsettled`: somebody owned a word or was faster.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t take_from_chunk(Thread& thread, const S& space, Group& mates, SizeClass size_class,
                                      std::uint32_t chunk, Tour tour, bool& unsettled) {
  constexpr std::uint32_t most_losses = 32;
  const std::uint32_t words = size_class.words();
  std::uint32_t losses = 0;
  for (std::uint32_t looked = 0; looked < tour.looks && looked < words;) {
    const std::uint32_t wanted = mates.num_threads();
    const std::uint32_t index = (tour.start + mates.thread_rank()) % words;
    std::uint64_t seen = tour.is_closed ? closed_word : locked_word;
    if (!tour.is_closed && (!tour.home || mates.leader())) {
      seen = thread.atomic(space.words[space.word_number(chunk, index)]).load(simt::relaxed);
    }
    const std::uint32_t here = tour.home && !mates.leader() ? 0 : simt::popcount(free_slots(seen, size_class, index));
    tour.is_closed = false;
    const simt::LaneMask some = mates.ballot(here != 0);
    if (some == 0) {
      // A locked word is opened in a moment.
      const bool waits = mates.any(seen == locked_word && (!tour.home || mates.leader()));
      if (waits) unsettled = true;
      if (waits && tour.home && ++losses < most_losses) {
        thread.spin_hint();
        continue;
      }
      looked += tour.home ? 1 : wanted;
      tour.start = tour.bits != 0 ? common_random(thread, mates) : tour.start + wanted;
      tour.home = false;
      continue;
    }
    const simt::LaneMask rich = mates.ballot(here >= wanted);
    // One word serves all if it can; else each lane that found something helps itself. At home there is one word.
    const simt::LaneMask givers = rich != 0 ? rich & (0u - rich) : some;
    std::uint32_t won = 0;
    if ((givers >> thread.lane() & 1) != 0) {
      won = take_slots(thread, space, chunk, index, size_class, seen, rich != 0 || tour.home ? wanted : 1, tour.bits);
    }
    std::uint32_t slot = no_slot;
    if (rich != 0 || tour.home) {
      const std::uint32_t giver = simt::count_trailing_zeros(givers);
      won = mates.shfl_lane(won, giver);
      const std::uint32_t first = mates.shfl_lane(index, giver) * 32;
      if (mates.thread_rank() < simt::popcount(won)) slot = first + simt::nth_set_bit(won, mates.thread_rank());
    } else if (won != 0) {
      slot = index * 32 + simt::count_trailing_zeros(won);
    }
    mates.sync();  // the giver's acquire holds for all
    const Group rest = mates.partition(slot == no_slot);
    if (slot != no_slot) return slot;
    if (rest.num_threads() == wanted) {
      unsettled = true;
      if (++losses % 8 == 0) looked += wanted;
    }
    mates = rest;
  }
  return no_slot;
}

// A free chunk for the class; no_chunk if there seems to be none.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                  std::uint32_t entry) {
  // The own place of the entry: nobody else tries it in a pool with ample room.
  std::uint32_t chunk = no_chunk;
  if (mates.leader() && thread.atomic(*space.nothing_free).load(simt::relaxed) == 0) {
    const std::uint32_t part = space.chunks / SizeClass::count(space.chunk_log2) + 1;
    chunk = first_chunk + (entry + size_class * part) % space.chunks;
    if (!adopt(thread, space, chunk, size_class)) chunk = fetching;
  }
  chunk = mates.broadcast(chunk);
  if (chunk != fetching) return chunk;
  // The whole map, in windows of a word per lane. An odd step visits every window of a power of two of them.
  const std::uint32_t size = mates.num_threads();
  const std::uint32_t windows = 1u << (32 - simt::count_leading_zeros((space.map_words() - 1) / size));
  const std::uint32_t random = common_random(thread, mates);
  for (std::uint32_t i = 0; i < windows; ++i) {
    const std::uint32_t word = ((random + i * (random | 1)) & (windows - 1)) * size + mates.thread_rank();
    std::uint32_t unused = word < space.map_words() ? ~thread.atomic(space.in_use[word]).load(simt::relaxed) : 0;
    if (word == space.map_words() - 1) unused &= 0xffffffffu >> (31 - (space.chunks - 1) % 32);
    chunk = no_chunk;
    for (simt::LaneMask rest = mates.ballot(unused != 0); rest != 0; rest &= rest - 1) {
      const std::uint32_t lane = simt::count_trailing_zeros(rest);
      if (thread.lane() == lane) {
        const std::uint32_t bit = simt::nth_set_bit(unused, random % simt::popcount(unused));
        chunk = first_chunk + word * 32 + bit;
        if (!adopt(thread, space, chunk, size_class)) chunk = no_chunk;
      }
      const std::uint32_t found = mates.shfl_lane(chunk, lane);
      if (found != no_chunk) return found;
    }
  }
  if (mates.leader()) thread.atomic(*space.nothing_free).store(1u, simt::relaxed);
  return no_chunk;
}

// Another chunk for the directory entry that held `seen`; no_chunk if there is none to be had.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t renew_entry(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                  std::uint32_t place, std::uint32_t seen) {
  constexpr std::uint32_t most_looks = 64;
  const auto entry = thread.atomic(space.entry(size_class, place));
  std::uint32_t found = seen;
  bool mine = false;
  if (mates.leader()) {
    if (seen != fetching) mine = entry.compare_exchange(found, fetching, simt::relaxed, simt::relaxed);
    for (std::uint32_t i = 0; !mine && found == fetching && i < most_looks; ++i) {
      thread.spin_hint();
      found = entry.load(simt::relaxed);
    }
  }
  if (!mates.any(mine)) {
    found = mates.broadcast(found);
    // Who waited in vain goes on without the entry.
    return found == seen || found == fetching ? no_chunk : found;
  }
  const std::uint32_t chunk = fetch_chunk(thread, space, mates, size_class, place);
  if (mates.leader()) entry.store(chunk == no_chunk ? seen : chunk, simt::relaxed);
  return chunk;
}

// Makes a chunk that is free, or seems to be an empty one of another class, one of this class.
template <class Thread, class S, class Group>
SIMT_FN bool obtain(Thread& thread, const S& space, const Group& mates, std::uint32_t chunk, std::uint32_t entry,
                    std::uint32_t size_class) {
  if (entry != free_chunk) {
    return retire(thread, space, mates, chunk, space.size_class(entry - 1), chunk_of_class(size_class));
  }
  if (mates.leader()) thread.atomic(*space.nothing_free).store(0u, simt::relaxed);
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
      mine.chunk = first_chunk + (start + mine.at) % space.chunks;
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

// Goes through all chunks, again if somebody owned memory for a moment. A scan that began after mine and found nothing
// speaks for me as well.
template <class Thread, class S, class Group>
SIMT_FN void* scan(Thread& thread, const S& space, Group mates, SizeClass size_class, std::uint32_t place) {
  constexpr std::uint32_t most_rounds = 4;
  Scans& scans = space.scans[size_class.index];
  std::uint64_t number = 0;
  if (mates.leader()) number = thread.atomic(scans.begun).fetch_add(std::uint64_t{1}, simt::acq_rel) + 1;
  const std::uint32_t start = common_random(thread, mates) % space.chunks;
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
      const std::uint32_t slot =
          take_from_chunk(thread, space, mates, size_class, next.chunk, {.looks = all_looks}, unsettled);
      if (slot != no_slot) {
        thread.atomic(space.entry(size_class.index, place)).store(next.chunk, simt::relaxed);
        return space.block(next.chunk, size_class, slot);
      }
    }
    if (!unsettled) {
      if (number != 0) thread.atomic(scans.vain).fetch_max(number, simt::acq_rel);
      break;
    }
    thread.spin_hint();
  }
  return nullptr;
}

// A slot for each of the mates, who are all without one. `chunk` is what the directory said, `is_closed` tells that the
// word there was closed.
template <class Thread, class S, class Group>
SIMT_FN void* search(Thread& thread, const S& space, Group mates, SizeClass size_class, Place place,
                     std::uint32_t chunk, bool is_closed) {
  constexpr std::uint32_t most_chunks = 4;
  constexpr std::uint32_t looks = 4;
  bool unsettled = false;
  for (std::uint32_t i = 0; i < most_chunks; ++i) {
    if (chunk >= first_chunk) {
      const Tour tour{place.word, looks, place.bits, true, is_closed};
      const std::uint32_t slot = take_from_chunk(thread, space, mates, size_class, chunk, tour, unsettled);
      if (slot != no_slot) return space.block(chunk, size_class, slot);
    }
    chunk = renew_entry(thread, space, mates, size_class.index, place.entry, chunk);
    if (chunk == no_chunk) break;
    is_closed = true;  // as a chunk is that has just been fetched
  }
  return scan(thread, space, mates, size_class, place.entry);
}

}  // namespace allocbench::comb
