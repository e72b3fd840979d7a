// Which chunks a class has, and how it gets more of them.
//
// Each class has a list of its chunks, its members, where a request finds some at random. As the directory the list is
// a hint: an entry may be empty or name a chunk that has left the class. The length of the list is the number of
// entries that have ever been used, at most those that there are.
//
// A class gets a free chunk, else an empty one of another class. A request that needs one marks an entry first. Others
// that come to this entry wait for the chunk, which serves them too. So many requests that fail at once take few
// chunks.
#pragma once

#include "allocators/comb/retirement.hpp"
#include "allocators/comb/take.hpp"
#include "simt/parked.hpp"

namespace allocbench::comb {

// Chunks in use beyond which they are scarce.
template <class S>
SIMT_FN std::uint32_t plenty(const S& space) {
  return space.chunks - space.chunks / 4;
}

template <class Thread, class S, class Group>
SIMT_FN std::uint32_t unused_chunks(Thread& thread, const S& space, const Group& mates) {
  const std::uint32_t used = mates.broadcast(mates.leader() ? thread.atomic(*space.used).load(simt::relaxed) : 0);
  return used < space.chunks ? space.chunks - used : 0;
}

// How many chunks a class may still get, roughly: unused ones, and prepared ones of other classes, which stay empty in
// a pool that serves one size.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t chunks_to_get(Thread& thread, const S& space, const Group& mates) {
  std::uint32_t empty = 0;
  if (mates.leader()) {
    const std::uint32_t taken = thread.atomic(space.empties->taken).load(simt::relaxed);
    empty = taken < space.prepared ? space.prepared - taken : 0;
  }
  return mates.broadcast(empty) + unused_chunks(thread, space, mates);
}

// How scarce chunks are: 0 while a quarter of them is free, then 1, 2 and, with less than a sixteenth, 3.
template <class S>
SIMT_FN std::uint32_t scarcity(const S& space, std::uint32_t unused) {
  return unused > space.chunks / 4 ? 0 : unused > space.chunks / 8 ? 1 : unused > space.chunks / 16 ? 2 : 3;
}

// Reserves so many entries at the end of the list; the first of them. A full list begins again at its beginning.
template <class Thread, class S>
SIMT_FN std::uint32_t extend_list(Thread& thread, const S& space, std::uint32_t size_class, std::uint32_t by) {
  return thread.atomic(space.member_counts[size_class]).fetch_add(by, simt::relaxed);
}

// Puts a chunk into the list, at a place that was reserved for it. Another request that fetches a chunk for an empty
// entry may have taken the place; then the next places are tried. Only a scan of all chunks finds a chunk that is not
// in the list.
template <class Thread, class S>
SIMT_FN void enlist(Thread& thread, const S& space, std::uint32_t size_class, std::uint32_t place,
                    std::uint32_t chunk) {
  constexpr std::uint32_t most_looks = 256;
  constexpr std::uint32_t most_reserved = 8;
  SIMT_ROLLED
  for (std::uint32_t i = 0; i < most_looks; ++i) {
    std::uint32_t seen = no_chunk;
    const auto entry = thread.atomic(space.member(size_class, place));
    if (entry.compare_exchange(seen, chunk, simt::relaxed, simt::relaxed)) return;
    place = i < most_reserved ? extend_list(thread, space, size_class, 1) : place + 1;
  }
  thread.atomic(space.member(size_class, place)).store(chunk, simt::relaxed);
}

// The number, from 0, of the chunk that a directory entry asks for first. In a pool with room it nearly always gets
// that chunk. Chunks that were prepared come first.
template <class S>
SIMT_FN std::uint32_t own_chunk(const S& space, std::uint32_t size_class, std::uint32_t entry) {
  const std::uint32_t early = size_class * space.prepared_per_class + entry;
  if (entry < space.prepared_per_class && early < space.prepared) return early;
  std::uint32_t late = (entry & space.own_mask) + size_class * space.class_part;  // less than three times own_chunks
  late = late < space.own_chunks ? late : late - space.own_chunks;
  late = late < space.own_chunks ? late : late - space.own_chunks;
  return space.prepared + late;
}

// Owns the chunks that the directory entries of `batch` ask for, as far as they are free, with one atomic: a request
// that needs one will need the others. Requests that come too late find the class in the table. Returns the chunk of
// `place`, or no_chunk if it is taken.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_own_chunks(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                       std::uint32_t place, std::uint32_t batch, bool thrifty) {
  constexpr std::uint32_t most_looks = 32;
  const std::uint32_t wanted = own_chunk(space, size_class, place);
  const std::uint32_t lowest = wanted & ~(batch - 1);
  const std::uint32_t bits =
      mates.num_threads() < batch ? 1u << wanted % 32 : (0xffffffffu >> (32 - batch)) << lowest % 32;
  std::uint32_t before = 0;
  bool refused = false;
  if (mates.leader()) {
    before = thread.atomic(space.in_use[wanted / 32]).fetch_or(bits, simt::acquire);
    const std::uint32_t owned = simt::popcount(bits & ~before);
    if (owned != 0) {
      // Thousands may ask at once before they see that chunks have become scarce.
      refused = thread.atomic(*space.used).fetch_add(owned, simt::relaxed) >= plenty(space) && thrifty;
    }
    if (refused) {
      release_chunk(thread, space, first_chunk + wanted);
      before |= bits;
    }
  }
  before = mates.broadcast(before);
  mates.sync();  // the leader's acquire holds for all
  // Each lane gives the class to one chunk, the leader to the one that is wanted. Others wait for that: the list is
  // later.
  const std::uint32_t mine = lowest | ((wanted + mates.thread_rank()) & (batch - 1));
  const std::uint32_t owned = bits & ~before;
  const bool gives = mates.thread_rank() < batch && (owned >> mine % 32 & 1) != 0;
  if (gives) {
    give_class(thread, space, first_chunk + mine, size_class);
    const std::uint32_t entry = (place & ~(batch - 1)) | (mine & (batch - 1));
    thread.atomic(space.entry(size_class, entry)).store(first_chunk + mine, simt::relaxed);
  }
  if (owned != 0) {
    std::uint32_t listed = mates.leader() ? extend_list(thread, space, size_class, simt::popcount(owned)) : 0;
    listed = mates.broadcast(listed) + simt::popcount(owned & ((1u << mine % 32) - 1));
    if (gives) enlist(thread, space, size_class, listed, first_chunk + mine);
  }
  bool has_class = (before >> wanted % 32 & 1) == 0;
  if (!has_class && mates.leader() && !refused) {
    std::uint32_t entry = thread.atomic(space.table[first_chunk + wanted]).load(simt::relaxed);
    SIMT_ROLLED
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
  SIMT_ROLLED
  for (std::uint32_t i = 0; i < windows; ++i) {
    const std::uint32_t word = ((random + i * (random | 1)) & (windows - 1)) * size + mates.thread_rank();
    std::uint32_t unused = word < space.map_words() ? ~thread.atomic(space.in_use[word]).load(simt::relaxed) : 0;
    if (word == space.map_words() - 1) unused &= 0xffffffffu >> (31 - (space.chunks - 1) % 32);
    std::uint32_t chunk = no_chunk;
    SIMT_ROLLED
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

// Makes a chunk that is free, or seems to be an empty one of another class, one of this class.
template <class Thread, class S, class Group>
SIMT_FN bool obtain(Thread& thread, const S& space, const Group& mates, std::uint32_t chunk, std::uint32_t entry,
                    std::uint32_t size_class) {
  if (entry != free_chunk) {
    if (!retire(thread, space, mates, chunk, space.size_class(entry - 1), chunk_of_class(size_class))) return false;
    if (mates.leader()) thread.atomic(space.empties->taken).fetch_add(1u, simt::relaxed);
    return true;
  }
  return mates.any(mates.leader() && adopt(thread, space, chunk, size_class));
}

// Could the class have this chunk? It is free, or seems to be an empty one of another class. `entry`: of the table.
// `least` is `locked` if it may be one that another thread is taking, else `closed`.
template <class Thread, class S>
SIMT_FN bool obtainable(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t entry,
                        std::uint32_t size_class, std::uint32_t least) {
  if (entry == free_chunk) return true;
  return is_class(entry) && entry != chunk_of_class(size_class) &&
         seems_empty(thread, space, chunk, space.size_class(entry - 1), least);
}

// An empty chunk of another class, or a free one, becomes one of this class. All searches for one share a cursor, which
// stays where a look found some. They skip chunks that another thread is taking, so they do not queue for one. After a
// round through the pool without success each looks once, because empty chunks rarely come back.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t take_empty_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class) {
  constexpr std::uint32_t most_looks = 64;
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> i = 0; i < most_looks; ++i) {
    std::uint32_t at = 0;
    bool again = true;
    if (mates.leader()) {
      at = thread.atomic(space.empties->next).load(simt::relaxed);
      again = i == 0 || thread.atomic(space.empties->vain).load(simt::relaxed) <= space.chunks;
    }
    if (!mates.all(again)) break;
    at = mates.broadcast(at);
    // Prepared chunks of large sizes have few words, so they come first.
    const std::uint32_t step = at + mates.thread_rank();
    const std::uint32_t mine = step < space.prepared ? space.prepared - 1 - step : step;
    std::uint32_t entry = inside_run;
    if (step < space.chunks) entry = thread.atomic(space.table[first_chunk + mine]).load(simt::acquire);
    const simt::LaneMask all = mates.ballot(obtainable(thread, space, first_chunk + mine, entry, size_class, closed));
    if (all == 0) {
      const std::uint32_t size = mates.num_threads();
      if (mates.leader() &&
          thread.atomic(space.empties->next)
              .compare_exchange(at, at + size < space.chunks ? at + size : 0, simt::relaxed, simt::relaxed)) {
        thread.atomic(space.empties->vain).fetch_add(size, simt::relaxed);
      }
      continue;
    }
    const std::uint32_t lane =
        simt::nth_set_bit(all, simt::multiply_high(common_random(thread, mates), simt::popcount(all)));
    const simt::Parked<std::uint32_t> chunk = first_chunk + mates.shfl_lane(mine, lane);
    if (!obtain(thread, space, mates, chunk, mates.shfl_lane(entry, lane), size_class)) continue;
    if (mates.leader()) thread.atomic(space.empties->vain).store(0u, simt::relaxed);
    return chunk;
  }
  return no_chunk;
}

// A chunk that is new for the class: a free one, else an empty one of another class. no_chunk if none was found.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class) {
  const std::uint32_t found = fetch_any_chunk(thread, space, mates, size_class);
  return found != no_chunk ? found : take_empty_chunk(thread, space, mates, size_class);
}

// A chunk for an entry, of the directory or of the list of members, that held `seen`; no_chunk if there is none to be
// had. One group fetches it, the others wait for it. `fetched`: by this group.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_for(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                std::uint32_t& entry_word, std::uint32_t seen, bool& fetched) {
  constexpr std::uint32_t most_looks = 64;
  const auto entry = thread.atomic(entry_word);
  std::uint32_t found = no_chunk;
  fetched = false;
  if (mates.leader()) {
    found = seen;
    fetched = seen != fetching && entry.compare_exchange(found, fetching, simt::relaxed, simt::relaxed);
    SIMT_ROLLED
    for (std::uint32_t i = 0; !fetched && found == fetching && i < most_looks; ++i) {
      thread.spin_hint();
      found = entry.load(simt::relaxed);
    }
    if (found == fetching || found == seen) found = no_chunk;
  }
  fetched = mates.any(fetched);
  if (!fetched) return mates.broadcast(found);
  found = fetch_chunk(thread, space, mates, size_class);
  if (mates.leader()) entry.store(found == no_chunk ? seen : found, simt::relaxed);
  return found;
}

// The chunk that a directory entry will get because others ask for it; no_chunk if no request seems to.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t wait_for_entry(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                     std::uint32_t place) {
  constexpr std::uint32_t most_looks = 4;
  std::uint32_t found = no_chunk;
  if (mates.leader()) {
    const auto entry = thread.atomic(space.entry(size_class, place));
    found = entry.load(simt::relaxed);
    SIMT_ROLLED
    for (std::uint32_t i = 1; i < most_looks && found < first_chunk; ++i) {
      thread.spin_hint();
      found = entry.load(simt::relaxed);
    }
  }
  found = mates.broadcast(found);
  return found < first_chunk ? no_chunk : found;
}

// A chunk for the directory entry that held `seen`; no_chunk if there is none to be had. In a pool more than half used
// a thrifty group asks for no other than the entry's own.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t renew_entry(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                  std::uint32_t place, std::uint32_t seen, std::uint32_t batch, bool thrifty) {
  std::uint32_t found = fetch_own_chunks(thread, space, mates, size_class, place, batch, thrifty);
  if (found != no_chunk && found != seen) return found;
  if (thrifty && unused_chunks(thread, space, mates) < space.chunks / 2) return no_chunk;
  bool fetched = false;
  found = fetch_for(thread, space, mates, size_class, space.entry(size_class, place), seen, fetched);
  if (fetched && found != no_chunk && mates.leader()) {
    enlist(thread, space, size_class, extend_list(thread, space, size_class, 1), found);
  }
  return found;
}

// A chunk for an empty entry of the list, which may have got one by now.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_member(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                   std::uint32_t place) {
  std::uint32_t& entry = space.member(size_class, place);
  const std::uint32_t seen = mates.broadcast(mates.leader() ? thread.atomic(entry).load(simt::relaxed) : 0);
  if (seen >= first_chunk) return seen;
  bool fetched = false;
  const std::uint32_t found = fetch_for(thread, space, mates, size_class, entry, seen, fetched);
  if (fetched && found != no_chunk && mates.leader()) {
    thread.atomic(space.member_counts[size_class]).fetch_max(place + 1, simt::relaxed);
  }
  return found;
}

}  // namespace allocbench::comb
