// A scan is the last step of a search. It checks all chunks of the pool, in windows of eight neighbouring chunks.
//
// Warps that scan at the same time usually start at different windows. Each check of a window first takes a ticket, and
// a check that finds nothing for the class stores its ticket as a note at the window. Each scan also has a ticket. If
// the note of a window is younger than a scan, the window has nothing for this scan, because the check saw everything
// that was free when the scan began. If the notes of all windows are younger, the pool has nothing for this scan.
//
// In its first round, a scan checks only windows that are not marked as barren. A mark means that the last check of the
// window found nothing for the class. In this round the scan takes only slots of its own class, so that classes that
// scan at the same time do not take the last empty chunks from each other. It stores no notes in this round.
#pragma once

#include "allocators/comb/members.hpp"
#include "simt/parked.hpp"

namespace allocbench::comb {

inline constexpr std::uint32_t no_window = 0xffffffffu;

// Takes slots for the mates from chunks of the class in a window. Bit i of `own` selects chunk i of the window. All
// words of these chunks are checked until a lane gets a slot. `unsettled` is set if another thread works on one of the
// words, or if the mates lost the free slots of one place to other threads more than eight times in a row.
template <class Thread, class S, class Group>
SIMT_FN Taken glean(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class,
                    const simt::Parked<std::uint32_t>& window, const simt::Parked<std::uint32_t>& own,
                    simt::Parked<bool>& unsettled) {
  constexpr std::uint32_t most_losses = 8;
  const simt::Parked<std::uint32_t> total = simt::popcount(own) * size_class->words();
  const simt::Parked<std::uint32_t> start = simt::multiply_high(common_random(thread, mates), total);
  simt::Parked<std::uint32_t> losses = 0;
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> at = 0; at < total;) {
    const simt::Parked<std::uint32_t> size = mates.num_threads();
    Sight mine;
    if (at + mates.thread_rank() < total) {
      const std::uint32_t words = size_class->words();
      const std::uint32_t i = (start + at + mates.thread_rank()) % total;
      const std::uint32_t chunk = first_chunk + window * window_chunks + simt::nth_set_bit(own, i / words);
      mine = look_at(thread, space, chunk, i % words);
    }
    const bool saw = mates.any(free_slots(mine.seen, size_class, mine.index) != 0);
    if (mates.any(mine.chunk != no_chunk && mine.seen == locked_word)) unsettled = true;
    const Taken taken = take(thread, space, mates, size_class, mine, false, 0);
    if (taken.chunk != no_chunk) return taken;
    if (saw) {
      if (mates.num_threads() < size) losses = 0;
      if (++losses <= most_losses) continue;  // look again at this place
      unsettled = true;
    }
    losses = 0;
    at = at + size;
  }
  return {};
}

// Takes slots for the mates from a window, first from chunks of the class. With `may_grow`, the class may then get
// other chunks of the window.
template <class Thread, class S, class Group>
SIMT_FN Taken search_window(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class,
                            const simt::Parked<std::uint32_t>& window, bool may_grow, simt::Parked<bool>& unsettled) {
  std::uint32_t found = 0;  // lower half: chunks of the class; upper half: chunks that it may get
  SIMT_ROLLED
  for (std::uint32_t i = mates.thread_rank(); i < window_chunks; i += mates.num_threads()) {
    if (window * window_chunks + i >= space.chunks) break;
    const std::uint32_t chunk = first_chunk + window * window_chunks + i;
    const std::uint32_t entry = thread.atomic(space.table[chunk]).load(simt::acquire);
    if (entry == chunk_of_class(size_class->index)) found |= 1u << i;
    if (may_grow && obtainable(thread, space, chunk, entry, size_class->index, locked)) found |= 1u << (16 + i);
  }
  found = mates.reduce_add(found);  // distinct bits
  mates.sync();                     // each lane's acquire covers all lanes
  simt::Parked<std::uint32_t> own = found & 0xffffu;
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> others = found >> 16;;) {
    const Taken taken = glean(thread, space, mates, size_class, window, own, unsettled);
    if (taken.chunk != no_chunk || others == 0) return taken;
    own = others & (0u - others);
    others = others & (others - 1);
    const std::uint32_t chunk = first_chunk + window * window_chunks + simt::count_trailing_zeros(own);
    const std::uint32_t entry =
        mates.broadcast(mates.leader() ? thread.atomic(space.table[chunk]).load(simt::acquire) : 0);
    if (entry == chunk_of_class(size_class->index)) continue;
    if ((entry == free_chunk || is_class(entry)) && obtain(thread, space, mates, chunk, entry, size_class->index)) {
      if (mates.leader()) {
        enlist(thread, space, size_class->index, extend_list(thread, space, size_class->index, 1), chunk);
      }
    } else {
      unsettled = true;
      own = 0;
    }
  }
}

// Takes one ticket for all mates. All earlier actions of the mates are ordered before the actions of holders of later
// tickets.
template <class Thread, class Group>
SIMT_FN std::uint64_t take_ticket(Thread& thread, const Group& mates, Scans& scans) {
  mates.sync();
  const std::uint64_t ticket =
      mates.leader() ? thread.atomic(scans.tickets).fetch_add(std::uint64_t{1}, simt::acq_rel) : 0;
  mates.sync();
  return mates.broadcast(ticket);
}

// Returns the next window that is not marked as barren, or `no_window`. The search begins at word `next` of the marks
// and checks at most `left` words. It moves `next` forward and lowers `left`.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t hopeful_window(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                     simt::Parked<std::uint32_t>& next, simt::Parked<std::uint32_t>& left) {
  SIMT_ROLLED
  while (left != 0) {
    const std::uint32_t rank = mates.thread_rank();
    const std::uint32_t word = next + rank < space.barren_words() ? next + rank : next + rank - space.barren_words();
    std::uint32_t hopeful = 0;
    if (rank < left) hopeful = ~thread.atomic(space.barren_windows(size_class, word)).load(simt::relaxed);
    if (word == space.barren_words() - 1) hopeful &= 0xffffffffu >> (31 - (space.windows() - 1) % 32);
    const simt::LaneMask all = mates.ballot(hopeful != 0);
    std::uint32_t steps = simt::popcount(mates.mask() & ((all & (0u - all)) - 1));  // words before the hopeful one
    if (steps > left) steps = left;
    left = left - steps;
    next = next + steps < space.barren_words() ? next + steps : next + steps - space.barren_words();
    if (all == 0) continue;
    const std::uint32_t bit = simt::nth_set_bit(
        hopeful, simt::multiply_high(scrambled(static_cast<std::uint32_t>(thread.clock())), simt::popcount(hopeful)));
    return mates.shfl_lane(word * 32 + bit, simt::count_trailing_zeros(all));
  }
  return no_window;
}

// Returns the next window whose note is not younger than ticket `number`, or `no_window`. `next` and `left` count
// windows.
template <class Thread, class S, class Group>
SIMT_FN std::uint32_t unproved_window(Thread& thread, const S& space, const Group& mates, std::uint32_t size_class,
                                      const simt::Parked<std::uint64_t>& number, simt::Parked<std::uint32_t>& next,
                                      simt::Parked<std::uint32_t>& left) {
  SIMT_ROLLED
  while (left != 0) {
    const std::uint32_t rank = mates.thread_rank();
    const std::uint32_t window = next + rank < space.windows() ? next + rank : next + rank - space.windows();
    const simt::LaneMask all =
        mates.ballot(rank < left && thread.atomic(space.note(size_class, window)).load(simt::acquire) <= number);
    const bool none = all == 0;
    std::uint32_t steps = simt::popcount(mates.mask() & ((all & (0u - all)) - 1)) + (none ? 0 : 1);
    if (steps > left) steps = left;
    left = left - steps;
    next = next + steps < space.windows() ? next + steps : next + steps - space.windows();
    if (!none) return mates.shfl_lane(window, simt::count_trailing_zeros(all));
  }
  return no_window;
}

// Searches the windows for a free slot. The first round skips the windows that are marked as barren. The second round
// searches all windows without a younger note. If another thread worked on some of the memory meanwhile, more rounds
// follow, up to `most_rounds` in all. The scan ends without a block if a scan that began later found nothing.
template <class Thread, class S, class Group>
SIMT_FN void* scan(Thread& thread, const S& space, Group& mates, const simt::Parked<SizeClass>& size_class,
                   const simt::Parked<std::uint32_t>& place) {
  constexpr std::uint32_t most_rounds = 5;  // the first pass checks windows that are not barren
  const simt::Parked<std::uint64_t> number = take_ticket(thread, mates, space.scans[size_class->index]);
  SIMT_ROLLED
  for (simt::Parked<std::uint32_t> round = 0; round < most_rounds; ++round) {
    simt::Parked<bool> unsettled = false;
    simt::Parked<std::uint32_t> left = round == 0 ? space.barren_words() : space.windows();
    // Scans start at steps of the golden ratio, so any number of scans that begin together spread evenly.
    simt::Parked<std::uint32_t> next =
        simt::multiply_high((static_cast<std::uint32_t>(number) + round) * 0x9e3779b9u, left);
    SIMT_ROLLED
    for (simt::Parked<std::uint32_t> looks = 0; looks < space.windows(); ++looks) {
      if (mates.any(mates.leader() &&
                    thread.atomic(space.scans[size_class->index].vain).load(simt::acquire) > number)) {
        return nullptr;
      }
      const simt::Parked<std::uint32_t> window =
          round == 0 ? hopeful_window(thread, space, mates, size_class->index, next, left)
                     : unproved_window(thread, space, mates, size_class->index, number, next, left);
      if (window == no_window) break;
      const simt::Parked<std::uint64_t> ticket = take_ticket(thread, mates, space.scans[size_class->index]);
      simt::Parked<bool> busy = false;
      const Taken taken = search_window(thread, space, mates, size_class, window, round != 0, busy);
      const auto barren = thread.atomic(space.barren_windows(size_class->index, window / 32));
      if (taken.chunk != no_chunk) {
        if (round != 0) barren.fetch_and(~(1u << window % 32), simt::relaxed);
        thread.atomic(space.entry(size_class->index, place)).store(taken.chunk, simt::relaxed);
        return space.block(taken.chunk, size_class, taken.slot);
      }
      if (mates.any(busy)) {
        unsettled = true;
        if (round == 0) {  // the next word of the marks follows, because this one would yield the busy window again
          left = left - (left != 0 ? 1 : 0);
          next = next + 1 < space.barren_words() ? next + 1 : 0;
        }
      } else if (mates.leader()) {
        barren.fetch_or(1u << window % 32, simt::relaxed);
        if (round != 0) thread.atomic(space.note(size_class->index, window)).fetch_max(ticket + 1, simt::release);
      }
    }
    if (round != 0 && !mates.any(unsettled)) {
      if (mates.leader()) thread.atomic(space.scans[size_class->index].vain).fetch_max(number + 1, simt::acq_rel);
      break;
    }
    thread.spin_hint();
  }
  return nullptr;
}

}  // namespace allocbench::comb
