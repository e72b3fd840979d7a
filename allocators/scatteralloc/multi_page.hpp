// Blocks of several pages: runs of consecutive unformatted pages, marked in the page table.
//
// Steinberger et al. 2012 scan the table from the back for such a run, one thread at a time under one lock. Here a
// request first tries a few places that a hash names: places of one size lie side by side, counted from the back of the
// pool, and every page is claimed by a compare-exchange from 0 to a mark; on a conflict the claimed pages go back. Only
// then it takes the lock and scans the whole table downwards.
//
// The length of a run is not stored: it ends where the next page is not marked `run_rest`. While its owner holds the
// run, the page behind it cannot carry that mark, since that run's first page would have to lie before it.
// Lock: `searches` is odd while somebody scans. A request that saw a whole failed scan for no more pages than its own,
// begun after it came, answers null without a scan of its own: so a crowd that finds the pool full scans once or twice.
// Scans end, and whoever waits for one runs no longer than its own scan would; a waiter needs the lock or two failed
// scans.
#pragma once

#include "allocators/scatteralloc/page_table.hpp"

namespace allocbench::scatteralloc {

// Words of the lock; metadata.
struct ScanState {
  std::uint32_t searches;
  std::uint32_t failed_pages;  // of the last failed scan; written under the lock
  std::uint32_t failed_scan;   // its number: the value of `searches` while it ran
};

template <bool reset_pages>
struct MultiPage {
  static constexpr std::uint32_t hashed_tries = 12;
  static constexpr std::uint32_t rescans = 4;  // of a scan that lost a race for the run it had found

  PageTable<reset_pages> table;
  ScanState* scan = nullptr;

  // `pages` at least 2. Null when no run is free.
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::uint32_t pages) const {
    if (pages > table.pages) return nullptr;
    const std::uint32_t places = table.pages / pages;
    std::uint32_t x = thread.rank_in_grid() * 0x9e3779b1u + pages;
    for (std::uint32_t i = 0; i < hashed_tries; ++i) {
      x = (x ^ x >> 16) * 0x85ebca6bu + i;
      const std::uint32_t first = table.pages - (simt::multiply_high(x ^ x >> 13, places) + 1) * pages;
      std::uint32_t conflict;
      if (claim_run(thread, first, pages, conflict)) return table.chunk_address(first, 0, 0);
    }
    return scan_for_run(thread, pages);
  }

  // `first` carries the mark run_first.
  template <class Thread>
  SIMT_FN void free(Thread& thread, std::uint32_t first) const {
    std::uint32_t end = first + 1;
    while (end < table.pages && units_of(thread, end) == Entry::run_rest) ++end;
    while (end != first) {
      --end;
      release_page(thread, end);
    }
  }

 private:
  template <class Thread>
  SIMT_FN std::uint32_t units_of(Thread& thread, std::uint32_t page) const {
    return Entry::units(thread.atomic(table.entries[page]).load(simt::relaxed));
  }

  // The mark goes; bits and counts of claims that are about to withdraw stay.
  template <class Thread>
  SIMT_FN void release_page(Thread& thread, std::uint32_t page) const {
    thread.atomic(table.entries[page]).fetch_and(Entry::of_units(1) - 1, simt::release);
  }

  // All or nothing; on failure `conflict` is the page that was not free.
  template <class Thread>
  SIMT_FN bool claim_run(Thread& thread, std::uint32_t first, std::uint32_t pages, std::uint32_t& conflict) const {
    thread.probe(simt::Step::attempt);
    for (std::uint32_t page = first; page != first + pages; ++page) {
      const std::uint32_t mark = page == first ? Entry::run_first : Entry::run_rest;
      std::uint64_t free_page = 0;
      if (thread.atomic(table.entries[page])
              .compare_exchange(free_page, Entry::of_units(mark), simt::acquire, simt::relaxed)) {
        continue;
      }
      thread.probe(simt::Step::retry);
      conflict = page;
      while (page != first) {
        --page;
        release_page(thread, page);
      }
      return false;
    }
    return true;
  }

  template <class Thread>
  SIMT_FN void* scan_for_run(Thread& thread, std::uint32_t pages) const {
    const auto searches = thread.atomic(scan->searches);
    const std::uint32_t on_arrival = searches.load(simt::acquire);
    for (;;) {
      std::uint32_t now = searches.load(simt::acquire);
      // Scans begun after this thread came have numbers above on_arrival, odd while they run.
      const std::uint32_t failed_scan = thread.atomic(scan->failed_scan).load(simt::acquire);
      if (static_cast<std::int32_t>(failed_scan - on_arrival) > 0 &&
          thread.atomic(scan->failed_pages).load(simt::relaxed) <= pages) {
        return nullptr;
      }
      if (now % 2 == 0 && searches.compare_exchange(now, now + 1, simt::acquire, simt::relaxed)) {
        void* const block = scan_table(thread, pages);
        if (block == nullptr) {
          thread.atomic(scan->failed_pages).store(pages, simt::relaxed);
          thread.atomic(scan->failed_scan).store(now + 1, simt::release);
        }
        searches.store(now + 2, simt::release);
        return block;
      }
      thread.spin_hint();
    }
  }

  template <class Thread>
  SIMT_FN void* scan_table(Thread& thread, std::uint32_t pages) const {
    constexpr std::uint32_t batch = 8;  // loads in flight at once
    for (std::uint32_t round = 0; round < rescans; ++round) {
      bool lost_a_race = false;
      std::uint32_t length = 0;  // free pages from `page` on, as seen
      std::uint32_t page = table.pages;
      while (page != 0) {
        std::uint64_t words[batch];
        const std::uint32_t top = page;
        for (std::uint32_t i = 0; i < batch; ++i) {
          words[i] = i < top ? thread.atomic(table.entries[top - 1 - i]).load(simt::relaxed) : 1;
        }
        for (std::uint32_t i = 0; i < batch; ++i) {
          if (i >= top) continue;
          page = top - 1 - i;
          // A bit or count without a format belongs to a claim that will format the page or withdraw.
          length = words[i] == 0 ? length + 1 : 0;
          if (length != pages) continue;
          std::uint32_t conflict;
          if (claim_run(thread, page, pages, conflict)) return table.chunk_address(page, 0, 0);
          lost_a_race = true;
          length = conflict - page;  // the pages before the conflict are free; the run may end there
        }
        thread.probe(simt::Step::walk);
      }
      if (!lost_a_race) return nullptr;
    }
    return nullptr;
  }
};

}  // namespace allocbench::scatteralloc
