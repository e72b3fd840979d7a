// These functions find chunks of a class and give a class more chunks.
//
// Each class has a list of its chunks. These chunks are the members of the class. A request on the slow path picks some
// members at random. Like the directory, the list is a hint: an entry may be empty or contain a chunk that has left the
// class. The length of the list is the number of entries that have been reserved since the last reset, at most all
// entries.
//
// A class that needs a chunk gets a free chunk, or an empty chunk of another class if no chunk is free. A request that
// needs a chunk other than the preferred one first marks an entry. Other requests at this entry wait for the chunk,
// which also serves them. So if many requests fail at once, they take only a few chunks.
#pragma once

#include "allocators/comb/retirement.hpp"
#include "allocators/comb/take.hpp"
#include "simt/parked.hpp"

namespace allocbench::comb {

// Returns the number of chunks in use at which chunks become scarce.
template <class S>
SIMT_FN std::uint32_t plenty(const S& space) {
  return space.chunks - space.chunks / 4;
}

template <class Thread, class S, class Group>
SIMT_FN std::uint32_t unused_chunks(Thread& thread, const S& space, const Group& mates) {
  const std::uint32_t used = mates.broadcast(mates.leader() ? thread.atomic(*space.used).load(simt::relaxed) : 0);
  return used < space.chunks ? space.chunks - used : 0;
}

// Returns the approximate number of chunks that a class may still get. This is the number of unused chunks plus that of
// prepared chunks, minus the empty chunks that classes have taken from each other. Most prepared chunks stay empty in a
// pool that serves one size.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t chunks_to_get(Thread& thread, const S& space, const Group& mates) {
  std::uint32_t empty = 0;
  if (mates.leader()) {
    const std::uint32_t taken = thread.atomic(space.empties->taken).load(simt::relaxed);
    empty = taken < space.prepared ? space.prepared - taken : 0;
  }
  return mates.broadcast(empty) + unused_chunks(thread, space, mates);
}

// Returns how scarce chunks are: 0 if more than a quarter of them is unused, 1 above an eighth, 2 above a sixteenth,
// otherwise 3.
template <class S>
SIMT_FN std::uint32_t scarcity(const S& space, std::uint32_t unused) {
  return unused > space.chunks / 4 ? 0 : unused > space.chunks / 8 ? 1 : unused > space.chunks / 16 ? 2 : 3;
}

// Reserves this many entries at the end of the list, and returns the first. A full list continues at its beginning.
template <class Thread, class S>
SIMT_FN std::uint32_t extend_list(Thread& thread, const S& space, std::uint32_t size_class, std::uint32_t by) {
  return thread.atomic(space.member_counts[size_class]).fetch_add(by, simt::relaxed);
}

// Stores a chunk in the list, at a reserved place. If another request has already put a chunk at this place, this
// function tries other places: new ones at the end of the list, then the places that follow. After 256 tries the chunk
// replaces another. A chunk that is not in the list is found only through the directory or by a scan of all chunks.
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

// Returns the preferred chunk of a directory entry, counted from 0. While chunks are plentiful, the entry usually
// contains this chunk. The first entries of a class prefer prepared chunks.
template <class S>
SIMT_FN std::uint32_t own_chunk(const S& space, std::uint32_t size_class, std::uint32_t entry) {
  const std::uint32_t early = size_class * space.prepared_per_class + entry;
  if (entry < space.prepared_per_class && early < space.prepared) return early;
  std::uint32_t late = (entry & space.own_mask) + size_class * space.class_part;  // less than three times own_chunks
  late = late < space.own_chunks ? late : late - space.own_chunks;
  late = late < space.own_chunks ? late : late - space.own_chunks;
  return space.prepared + late;
}

// Gives the class the preferred chunks of `batch` neighbouring directory entries, unless they are taken. One atomic
// operation takes them all, because the requests that follow will need the other chunks. If there are fewer mates than
// `batch`, they take only the preferred chunk of entry `place`. A thrifty group gives this chunk back if at least three
// quarters of the chunks are in use. If the class has the preferred chunk of entry `place` after that, returns this
// chunk, otherwise no_chunk.
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
      // Thousands of requests may take chunks at once before they see that chunks are scarce. So each request checks
      // the number of used chunks again.
      refused = thread.atomic(*space.used).fetch_add(owned, simt::relaxed) >= plenty(space) && thrifty;
    }
    if (refused) {
      release_chunk(thread, space, first_chunk + wanted);
      before |= bits;
    }
  }
  before = mates.broadcast(before);
  mates.sync();  // the leader's acquire covers all lanes
  // Each of the first `batch` lanes gives the class to at most one chunk. The leader gives it to the requested chunk.
  // Other requests wait for this chunk, so the list is updated later.
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

// Gives any free chunk to the class and returns it. Returns no_chunk if there seems to be none.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_any_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class) {
  if (mates.any(mates.leader() && thread.atomic(*space.used).load(simt::relaxed) >= space.chunks)) return no_chunk;
  // Searches the whole map, in windows of one word per lane (not those of scan.hpp). The number of windows is a power
  // of two, so an odd step visits every window.
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

// Gives a chunk to this class if it is free or an empty chunk of another class. Returns whether the class got it.
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

// Returns true if the class can get this chunk: the chunk is free or seems to be an empty chunk of another class.
// `entry` is the chunk's entry in the table. With `least` = `locked`, a chunk that another thread is taking also
// counts; with `closed` it does not.
template <class Thread, class S>
SIMT_FN bool obtainable(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t entry,
                        std::uint32_t size_class, std::uint32_t least) {
  if (entry == free_chunk) return true;
  return is_class(entry) && entry != chunk_of_class(size_class) &&
         seems_empty(thread, space, chunk, space.size_class(entry - 1), least);
}

// Gives an empty chunk of another class, or a free chunk, to this class. All such searches share a cursor, which stays
// where a search found chunks. A search makes at most 64 steps. It skips chunks that another thread is taking, so that
// searches do not wait for each other. If the last pass over the pool found nothing, each search makes only one step,
// because chunks rarely become empty again.
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

// Gives the class a free chunk or, if there is none, an empty chunk of another class. Returns the chunk, or no_chunk if
// none was found.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t fetch_chunk(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class) {
  const std::uint32_t found = fetch_any_chunk(thread, space, mates, size_class);
  return found != no_chunk ? found : take_empty_chunk(thread, space, mates, size_class);
}

// Returns a chunk for an entry of the directory or of the list of members, or no_chunk if none is available. The entry
// contained `seen`. One group fetches the chunk, and the others wait for it, but only for 64 checks. `fetched` is set
// if this group searched for the chunk.
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

// Waits until other requests have put a chunk into a directory entry, and returns this chunk. Returns no_chunk if four
// checks find none.
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

// Returns a chunk for the directory entry, which contained `seen`, or no_chunk if none is available. If more than half
// of the pool is used, a thrifty group requests only the entry's preferred chunk.
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

// Returns a chunk for an entry of the list, or no_chunk. The entry was empty, but may have a chunk by now.
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
