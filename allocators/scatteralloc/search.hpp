// The reworked ScatterAlloc looks for a page with room at the hashed page, then at random pages, and then by a walk.
//
// Steinberger et al. 2012; thresholds of the authors' public code, version 1.0:
// * hash: hash.hpp.
// * region: A region has `region_pages` pages (16 by default). Its counter counts walks that left the region with
//   unserved lanes, at most `region_pages`. A free of a run and a free that leaves a page half empty set the counter to
//   0. Pass 1 of a walk goes from the start page towards the end of the pool. After its first region, it skips regions
//   whose counter has reached 3/4 of their pages (or all, if these are 1 or 2). Pass 2 looks everywhere.
// * access block: The pool is divided into equal access blocks. When a walk leaves the last region of a block, later
//   requests start in the next block. A free that sets a counter to 0 may move this start back.
//
// The lanes of a warp that request the same size search together. The hash puts neighbouring warps of an SM about as
// many pages apart as 32 chunks fill, so the lanes take consecutive chunks of consecutive pages. A walk checks two
// pages per lane at a time.
//
// Differs from the public code, in which a lane walks without the help of other lanes:
// * Lanes that have their chunk continue to look for the others, because the last lane would otherwise walk alone.
// * Before the walk, the lanes try `rehashes` random places. The first two tries check only as many pages as the lanes
//   need. The other tries check two pages per lane.
// * With one access block, pass 1 stops after 16 steps. With more steps, a walk through a full pool would cost one load
//   per region.
// * In pass 2, each SM visits the windows of 64 pages in its own order. So two SMs seldom try one window at the same
//   time. Each SM begins near the window where it last found room, because other windows may just have been filled.
//
// All words of Regions are hints, so their accesses are relaxed, and wrong values only cost time.
#pragma once

#include "allocators/scatteralloc/hash.hpp"
#include "allocators/scatteralloc/page_table.hpp"
#include "simt/simt.hpp"

namespace allocbench::scatteralloc {

inline constexpr std::uint32_t looks = 2;  // pages that a lane checks at once

struct Regions {
  static constexpr std::uint32_t resume_words = 256;
  static constexpr std::uint32_t window_pages = simt::warp_size * looks;
  static constexpr std::uint32_t close_tries = 2;  // scattered tries that check no more pages than the lanes need

  std::uint32_t* failures = nullptr;  // counters of the regions
  std::uint32_t* first_block = nullptr;
  std::uint32_t* resume = nullptr;  // window of each SM where pass 2 begins for warp slot 0
  std::uint32_t window_mask = 0;    // number of windows minus 1; the windows, a power of two, cover the pool
  std::uint32_t count = 0;
  std::uint32_t shift = 4;     // log2 of the pages of a region
  std::uint32_t pages = 0;     // number of pages of the pool
  std::uint32_t blocks = 1;    // number of access blocks
  Modulo pages_per_block;      // pages of an access block, a multiple of the region size
  std::uint32_t rehashes = 8;  // number of scattered tries between the hash and the walk

  SIMT_FN std::uint32_t region_pages() const { return 1u << shift; }

  // After its first region, pass 1 of a walk skips a region with at least this number of failures.
  SIMT_FN std::uint32_t skip_from() const { return shift < 2 ? region_pages() : region_pages() / 4 * 3; }

  template <class Thread>
  SIMT_FN std::uint32_t hash(Thread& thread, std::uint32_t chunk, std::uint32_t page_shift) const {
    const std::uint32_t page = hashed_page(thread, chunk, page_shift, pages_per_block);
    if (blocks == 1) return page;
    return thread.atomic(*first_block).load(simt::relaxed) * pages_per_block.divisor() + page;
  }

  // Returns a random page of the pool. Lanes of a warp with equal arguments get the same page. `attempt` is the number
  // of the try.
  template <class Thread>
  SIMT_FN std::uint32_t scattered(Thread& thread, std::uint32_t chunk, std::uint32_t attempt) const {
    std::uint32_t x = (thread.block() * 32 + thread.warp_in_block()) * 16 + attempt + (chunk << 20);
    x = (x ^ x >> 16) * 0x85ebca6bu;  // finalizer of MurmurHash3
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return simt::multiply_high(x ^ x >> 16, pages);
  }

  // Returns the index of the SM's word in `resume`. An SM with a number of 256 or more shares its word and its order of
  // windows with another SM.
  template <class Thread>
  SIMT_FN std::uint32_t resume_word(Thread& thread) const {
    return thread.sm() % resume_words;
  }

  // Returns the first page of the n-th window in the order with number `order`. An order takes steps of an odd number
  // of windows, so it visits every window. Some windows may lie at or beyond `pages`.
  SIMT_FN std::uint32_t page_of_window(std::uint32_t order, std::uint32_t n) const {
    return ((n * (order * 0x3c6ef362u + 0x9e3779b1u) + order * 0x85ebca6bu) & window_mask) * window_pages;
  }

  // Records that a walk left this region with unserved lanes. After the last region of an access block, later requests
  // start in the next block, if there is one.
  template <class Thread>
  SIMT_FN void failed(Thread& thread, std::uint32_t region) const {
    const auto counter = thread.atomic(failures[region]);
    std::uint32_t seen = counter.load(simt::relaxed);
    if (seen < region_pages()) counter.compare_exchange(seen, seen + 1, simt::relaxed, simt::relaxed);
    if (blocks == 1) return;
    const std::uint32_t next_page = (region + 1) << shift;
    const std::uint32_t next_block = next_page / pages_per_block.divisor();
    if (next_page % pages_per_block.divisor() == 0 && next_block < blocks) {
      thread.atomic(*first_block).store(next_block, simt::relaxed);
    }
  }

  // Records that a free has left at least half of this page free.
  template <class Thread>
  SIMT_FN void has_room(Thread& thread, std::uint32_t page) const {
    thread.atomic(failures[page >> shift]).store(0u, simt::relaxed);
    if (blocks == 1) return;
    const std::uint32_t block = page / pages_per_block.divisor();
    const auto first = thread.atomic(*first_block);
    if (block < first.load(simt::relaxed)) first.fetch_min(block, simt::relaxed);
  }
};

// Returns to each lane a different page from `first` to `end` - 1 for which room(page table entry) is true, or no_page.
// The group checks `looks` pages per lane.
template <class Thread, class Group, class Room>
SIMT_FN std::uint32_t look(Thread& thread, const Group& group, std::uint64_t* entries, std::uint32_t first,
                           std::uint32_t end, Room room) {
  std::uint64_t seen[looks];  // makes all loads overlap
  for (std::uint32_t i = 0; i < looks; ++i) {
    const std::uint32_t page = first + group.thread_rank() + i * group.num_threads();
    if (page < end) seen[i] = thread.atomic(entries[page]).load(simt::relaxed);
  }
  std::uint32_t found = no_page;
  for (std::uint32_t i = looks; i-- > 0;) {
    const std::uint32_t page = first + group.thread_rank() + i * group.num_threads();
    if (page < end && room(seen[i])) found = page;
  }
  return found;
}

// Walk makes pass 1 and pass 2 (see above). All lanes of the group hold equal copies. To save registers, both passes
// count in one variable, and end() computes the end of the region or window. Malloc takes 48 registers (a GPU assigns
// them in multiples of 8), and with more registers fewer warps would fit an SM.
class Walk {
 public:
  SIMT_FN explicit Walk(std::uint32_t start_page) : page_(start_page) {}

  // Advances to the next region or window if look_done() has left the present one. Returns false at the end of pass 2.
  template <class Thread, class Group>
  SIMT_FN bool next(Thread& thread, const Regions& regions, const Group& group) {
    if (!left_behind_) return true;
    left_behind_ = false;
    if (left_ < first_window) {
      if (go_to_open_region(thread, regions, group)) return true;
      left_ = first_window + regions.window_mask + 1;
      order_ = group.broadcast(regions.resume_word(thread));
      window_ = group.broadcast(thread.atomic(regions.resume[order_]).load(simt::relaxed) + thread.warp_slot());
    }
    do {
      if (--left_ < first_window) return false;
      page_ = regions.page_of_window(order_, window_++);
    } while (page_ >= regions.pages);
    return true;
  }

  // Returns the first page to check. end() returns the page behind the last one.
  SIMT_FN std::uint32_t page() const { return page_; }
  SIMT_FN std::uint32_t end(const Regions& regions) const {
    const std::uint32_t pages = left_ < first_window ? regions.region_pages() : Regions::window_pages;
    const std::uint32_t end = (page_ | (pages - 1)) + 1;
    return end < regions.pages ? end : regions.pages;
  }

  // Ends a check. The walk moves on if no lane saw room, or if 4 checks in a row (64 in pass 2) saw room but served no
  // lane; otherwise it checks the same pages again. Pass 1 soon leaves crowded pages. Pass 2 leaves them only to bound
  // the search.
  template <class Thread, class Group>
  SIMT_FN void look_done(Thread& thread, const Regions& regions, const Group& group, bool saw_room, bool served_some) {
    const bool pass_2 = left_ >= first_window;
    if (pass_2 && served_some && group.leader()) {
      // Another warp of the SM may be further ahead. Then the word does not change.
      const std::uint32_t here = window_ - 1 - thread.warp_slot();
      const auto resume = thread.atomic(regions.resume[order_]);
      if (static_cast<std::int32_t>(here - resume.load(simt::relaxed)) > 0) resume.store(here, simt::relaxed);
    }
    misses_ = saw_room && !served_some ? misses_ + 1 : 0;
    if (saw_room && misses_ < (pass_2 ? 64 : 4)) return;
    misses_ = 0;
    const std::uint32_t page = page_ + group.num_threads() * looks;
    if (page >= end(regions)) {
      left_behind_ = true;
    } else {
      page_ = page;
    }
    if (left_ < first_window) count_step(regions);
  }

 private:
  static constexpr std::uint32_t first_window = 0x40000000;

  // Counts a step of pass 1. With several access blocks, pass 1 is not shortened, because only a whole pass shows which
  // blocks are full.
  SIMT_FN void count_step(const Regions& regions) {
    if (regions.blocks == 1 && left_ > 0) --left_;
  }

  // Counts the failure and proceeds to the next region that pass 1 may visit. A step checks one counter per lane.
  // Returns false at the end of pass 1.
  template <class Thread, class Group>
  SIMT_FN bool go_to_open_region(Thread& thread, const Regions& regions, const Group& group) {
    std::uint32_t region = page_ >> regions.shift;
    if (group.leader()) regions.failed(thread, region);
    for (++region; region < regions.count && left_ > 0; region += group.num_threads()) {
      count_step(regions);
      const std::uint32_t mine = region + group.thread_rank();
      const bool open =
          mine < regions.count && thread.atomic(regions.failures[mine]).load(simt::relaxed) < regions.skip_from();
      const simt::LaneMask lanes = group.ballot(open);
      if (lanes == 0) continue;
      page_ = group.shfl_lane(mine, simt::count_trailing_zeros(lanes)) << regions.shift;
      return true;
    }
    return false;
  }

  std::uint32_t page_;
  bool left_behind_ = false;
  std::uint32_t left_ = 16;  // steps left of pass 1; in pass 2, windows left plus first_window
  std::uint32_t order_ = 0;
  std::uint32_t window_ = 0;
  std::uint32_t misses_ = 0;
};

}  // namespace allocbench::scatteralloc
