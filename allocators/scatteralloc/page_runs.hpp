// In the published form, requests of a page and more get consecutive unformatted pages, found under one lock.
//
// Steinberger et al. 2012; authors' public code, version 1.0. The lanes of a warp go one after the other. A lane spins
// on the lock. Then the lane scans the table downwards from the hint, which is the page below which scans begin. If it
// finds no run, it scans from the end of the pool down to the hint. A compare-exchange of the chunk size from 0 to the
// size of the request claims each page of a run. Threads that look for chunks claim pages without the lock. After a
// conflict with such a thread, the claimed pages are freed and the scan continues.
#pragma once

#include "allocators/scatteralloc/usage_table.hpp"
#include "allocators/support/common/lock.hpp"

namespace allocbench::scatteralloc {

struct RunState {
  std::uint32_t lock;
  std::uint32_t end;  // the hint: page below which scans begin
};

template <bool reset_pages>
struct PageRuns {
  static constexpr std::uint32_t no_page = 0xffffffffu;

  UsageTable<reset_pages> table;
  RunState* state = nullptr;

  // Requires page bytes <= bytes < 2^32. Returns null if it finds no run of this length.
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::uint32_t bytes) const {
    const auto group = thread.converged();
    void* block = nullptr;
    SIMT_ROLLED
    for (std::uint32_t turn = 0; turn < group.num_threads(); ++turn) {
      if (turn == group.thread_rank()) {
        while (!try_lock(thread, state->lock)) thread.spin_hint();
        block = find(thread, bytes);
        unlock(thread, state->lock);
      }
      group.sync();
    }
    return block;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::uint32_t first, std::uint32_t bytes) const {
    const std::uint32_t end = first + pages_of(bytes);
    for (std::uint32_t page = first; page != end; ++page) table.clear_masks(thread, page);
    for (std::uint32_t page = first; page != end; ++page) {
      std::uint32_t owned = bytes;
      thread.atomic(table.usage[page].chunk_bytes).compare_exchange(owned, 0u, simt::release, simt::relaxed);
    }
    thread.atomic(state->end).fetch_max(end, simt::relaxed);
  }

 private:
  SIMT_FN std::uint32_t pages_of(std::uint32_t bytes) const { return ((bytes - 1) >> table.format.page_shift) + 1; }

  template <class Thread>
  SIMT_FN void* find(Thread& thread, std::uint32_t bytes) const {
    const std::uint32_t pages = pages_of(bytes);
    std::uint32_t hint = thread.atomic(state->end).load(simt::relaxed);
    std::uint32_t first = scan(thread, hint, 0, bytes, pages);
    if (first == no_page) {
      // This scan also finds runs that begin below the hint and end above it.
      first = scan(thread, table.pages, hint < pages ? 0 : hint - pages + 1, bytes, pages);
    }
    if (first == no_page) return nullptr;
    // The exchange fails if a free has moved the hint.
    thread.atomic(state->end).compare_exchange(hint, first, simt::relaxed, simt::relaxed);
    return table.base + (std::size_t{first} << table.format.page_shift);
  }

  // Claims the highest run between the pages `bottom` and `end` - 1. Returns its first page, or no_page if there is
  // none.
  template <class Thread>
  SIMT_FN std::uint32_t scan(Thread& thread, std::uint32_t end, std::uint32_t bottom, std::uint32_t bytes,
                             std::uint32_t pages) const {
    std::uint32_t length = 0;
    for (std::uint32_t page = end; page-- > bottom;) {
      thread.probe(simt::Step::walk);
      const bool free = thread.atomic(table.usage[page].chunk_bytes).load(simt::relaxed) == 0;
      length = free ? length + 1 : 0;
      if (length < pages) continue;
      length = claim(thread, page, bytes, pages);
      if (length == pages) return page;
    }
    return no_page;
  }

  // Claims `pages` pages, beginning with `first`, or none. Returns the number of free pages before the first that is in
  // use, or `pages` if all are claimed.
  template <class Thread>
  SIMT_FN std::uint32_t claim(Thread& thread, std::uint32_t first, std::uint32_t bytes, std::uint32_t pages) const {
    thread.probe(simt::Step::attempt);
    for (std::uint32_t i = 0; i < pages; ++i) {
      std::uint32_t unformatted = 0;
      if (thread.atomic(table.usage[first + i].chunk_bytes)
              .compare_exchange(unformatted, bytes, simt::acquire, simt::relaxed)) {
        continue;
      }
      thread.probe(simt::Step::retry);
      for (std::uint32_t j = i; j-- > 0;) thread.atomic(table.usage[first + j].chunk_bytes).store(0u, simt::release);
      return i;
    }
    return pages;
  }
};

}  // namespace allocbench::scatteralloc
