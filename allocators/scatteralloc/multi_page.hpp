// Blocks of several pages are runs of consecutive unformatted pages, marked in the page table.
//
// In Steinberger et al. 2012, one thread at a time scans the table under one lock, from the last run found towards the
// front. In the reworked form a request first tries 12 places that a hash selects. Places of one size lie side by side,
// counted from the back of the pool. A compare-exchange from 0 to a mark claims each page; after a conflict, the
// claimed pages are freed. If these tries fail, a warp takes the lock and scans once for all its requests of this
// length. The scan starts where the last scan ended and goes once around the table. If it loses a race for a run, it
// starts a new round, at most four times.
//
// The length of a run is not stored: a run ends where the next page is not marked `run_rest`. The page behind an owned
// run cannot have this mark, because the run of that page would begin in front of the page, where the owned run lies.
//
// Lock: The state records the last failed scan. If this scan was for an equal or shorter run and began after a request
// came, the request returns null without scanning. So of the warps that wait for the lock with equal requests, only one
// or two scan a full pool.
#pragma once

#include "allocators/scatteralloc/page_table.hpp"
#include "allocators/support/common/lock.hpp"

namespace allocbench::scatteralloc {

// ScanState lies in metadata. All bytes are zero at first. The leader of the warp that holds the lock writes the
// protected words.
struct ScanState {
  TicketLock lock;
  alignas(128) std::uint32_t resume;  // page below which the next scan begins; 0 for the end of the pool
  std::uint32_t failed_pages;         // length of the last failed scan in pages
  std::uint32_t failed_ticket;
};

// RunTable is the part of the page table that runs need. It is small, because the scan gets it by value.
struct RunTable {
  static constexpr std::uint32_t restarts = 4;  // restarts of a scan that lost a race for a run it had found

  std::uint64_t* entries;
  std::uint32_t count;  // number of pages of the pool

  // Claims all pages of a run. Returns false and claims none if one of them is in use.
  template <class Thread>
  SIMT_FN bool claim(Thread& thread, std::uint32_t first, std::uint32_t pages) const {
    thread.probe(simt::Step::attempt);
    for (std::uint32_t page = first; page != first + pages; ++page) {
      const std::uint32_t mark = page == first ? Entry::run_first : Entry::run_rest;
      std::uint64_t free_page = 0;
      if (thread.atomic(entries[page])
              .compare_exchange(free_page, Entry::of_units(mark), simt::acquire, simt::relaxed)) {
        continue;
      }
      thread.probe(simt::Step::retry);
      while (page != first) release_page(thread, --page);
      return false;
    }
    return true;
  }

  // Frees a run. Its page `first` has the mark run_first.
  template <class Thread>
  SIMT_FN void release(Thread& thread, std::uint32_t first) const {
    std::uint32_t end = first + 1;
    while (end < count && Entry::units(thread.atomic(entries[end]).load(simt::relaxed)) == Entry::run_rest) ++end;
    while (end != first) release_page(thread, --end);
  }

  // Claims a run for each lane of the group. The scan goes down from `page`, once around the table. Returns the run's
  // first page, or no_page to lanes that get none. Sets `page` to the end of the scan.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t scan(Thread& thread, const Group& group, std::uint32_t pages, std::uint32_t& page) const {
    std::uint32_t first = no_page;
    std::uint32_t restarts_left = restarts;
    std::uint32_t length = 0;                // number of free pages seen from `page` on
    std::uint32_t left = count + pages - 1;  // pages to scan; a run may lie across the place where the scan began
    do {
      std::uint32_t bottom = page;
      const std::uint32_t mine = find_run(thread, group, pages, first == no_page, bottom, length);
      const bool claimed = mine != no_page && claim(thread, mine, pages);
      if (claimed) first = mine;
      left -= page - bottom < left ? page - bottom : left;
      page = bottom;
      if (group.all(first != no_page)) break;
      if (page == 0) {
        page = count;
        length = 0;
      }
      // The rest of a lost run may be part of another run, so the scan goes around the table once more.
      if (group.any(mine != no_page && !claimed) && restarts_left != 0) {
        --restarts_left;
        left = count + pages - 1;
      }
    } while (left != 0);
    return first;
  }

 private:
  static constexpr std::uint32_t looks = 4;  // pages that a lane checks at once

  // Finds runs below `bottom` for the lanes that seek one. All lanes check the pages together, and the n-th run
  // belongs to the n-th seeking lane. Returns the first page of the caller's run, or no_page. Moves `bottom` below the
  // checked pages; `length` free pages begin there.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t find_run(Thread& thread, const Group& group, std::uint32_t pages, bool seeks,
                                 std::uint32_t& bottom, std::uint32_t& length) const {
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t free = free_pages(thread, group, bottom);
    thread.probe(simt::Step::walk);
    const auto seekers = group.partition(seeks);
    const std::uint32_t wanted = seeks ? seekers.num_threads() : lanes - seekers.num_threads();
    const std::uint32_t rank = seeks ? seekers.thread_rank() : lanes;
    std::uint32_t found = 0;
    std::uint32_t mine = no_page;
    for (std::uint32_t i = 0; i < looks && found != wanted && bottom != 0; ++i) {
      const simt::LaneMask free_lanes = group.ballot((free >> i & 1) != 0);
      const std::uint32_t looked = lanes < bottom ? lanes : bottom;
      if (free_lanes == 0 || (free_lanes == group.mask() && length + looked < pages)) {
        length = free_lanes == 0 ? 0 : length + looked;
        bottom -= looked;
        continue;
      }
      for (simt::LaneMask rest = group.mask(); rest != 0 && found != wanted && bottom != 0; rest &= rest - 1) {
        --bottom;
        length = (free_lanes & rest & (0u - rest)) != 0 ? length + 1 : 0;
        if (length != pages) continue;
        if (rank == found) mine = bottom;
        ++found;
        length = 0;
      }
    }
    return mine;
  }

  // Clears the mark. Keeps the bits and counts, because they belong to claims that will withdraw.
  template <class Thread>
  SIMT_FN void release_page(Thread& thread, std::uint32_t page) const {
    thread.atomic(entries[page]).fetch_and(Entry::of_units(1) - 1, simt::release);
  }

  // Returns which of the lane's pages below `end` are free. Bit i is for the page that is (i * lanes of the group +
  // rank + 1) pages below `end`.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t free_pages(Thread& thread, const Group& group, std::uint32_t end) const {
    std::uint64_t words[looks];  // makes all loads overlap
    for (std::uint32_t i = 0; i < looks; ++i) {
      const std::uint32_t below = i * group.num_threads() + group.thread_rank() + 1;
      // A bit or count without a format belongs to a claim that will format the page or withdraw.
      words[i] = below <= end ? thread.atomic(entries[end - below]).load(simt::relaxed) : 1;
    }
    std::uint32_t free = 0;
    for (std::uint32_t i = 0; i < looks; ++i) free |= (words[i] == 0 ? 1u : 0u) << i;
    return free;
  }
};

template <bool reset_pages>
struct MultiPage {
  static constexpr std::uint32_t hashed_tries = 12;

  PageTable<reset_pages> table;
  ScanState* state = nullptr;

  // Requires 2 <= pages <= the pages of the pool. Returns null if it finds no run.
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::uint32_t pages) const {
    const std::uint32_t places = table.pages / pages;
    std::uint32_t x = thread.rank_in_grid() * 0x9e3779b1u + pages;
    for (std::uint32_t i = 0; i < hashed_tries; ++i) {
      x = (x ^ x >> 16) * 0x85ebca6bu + i;
      const std::uint32_t first = table.pages - (simt::multiply_high(x ^ x >> 13, places) + 1) * pages;
      if (runs().claim(thread, first, pages)) return table.chunk_address(first, 0, 0);
    }
    const std::uint32_t first = scan_in_turn(thread, thread.converged().match_any(pages), runs(), state, pages);
    return first == no_page ? nullptr : table.chunk_address(first, 0, 0);
  }

  // Frees a run. Its page `first` has the mark run_first.
  template <class Thread>
  SIMT_FN void free(Thread& thread, std::uint32_t first) const {
    runs().release(thread, first);
  }

 private:
  SIMT_FN RunTable runs() const { return {table.entries, table.pages}; }

  // Scans under the lock. This function is not inlined and takes copies of its arguments. Otherwise malloc would need 8
  // more registers, or the heap would lie in local memory, and mallocs of one chunk would be slower.
  template <class Thread, class Group>
  SIMT_NOINLINE_FN static std::uint32_t scan_in_turn(Thread& thread, Group group, RunTable runs, ScanState* state,
                                                     std::uint32_t pages) {
    const TicketLock::Turn turn = state->lock.lock(thread, group);
    const auto resume = thread.atomic(state->resume);
    const auto failed_pages = thread.atomic(state->failed_pages);
    const auto failed_ticket = thread.atomic(state->failed_ticket);
    std::uint32_t page = 0;  // 0 if no scan is needed
    if (group.leader()) {
      // Scans that began after this group came have later tickets than the one that was being served at that time.
      const bool in_vain = static_cast<std::int32_t>(failed_ticket.load(simt::relaxed) - turn.on_arrival) > 0 &&
                           failed_pages.load(simt::relaxed) <= pages;
      const std::uint32_t last = resume.load(simt::relaxed);
      if (!in_vain) page = last == 0 ? runs.count : last;
    }
    page = group.broadcast(page);
    std::uint32_t first = no_page;
    if (page != 0) {
      first = runs.scan(thread, group, pages, page);
      const bool failed = group.any(first == no_page);
      if (group.leader()) {
        resume.store(page, simt::relaxed);
        if (failed) {
          failed_pages.store(pages, simt::relaxed);
          failed_ticket.store(turn.ticket, simt::relaxed);
        }
      }
    }
    state->lock.unlock(thread, group);
    return first;
  }
};

}  // namespace allocbench::scatteralloc
