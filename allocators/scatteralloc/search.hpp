// Where ScatterAlloc looks for a page: the hash, a few scattered tries, then a walk over regions.
//
// Steinberger et al. 2012; constants and thresholds of the authors' public code, version 1.0:
//   hash    start = s * 38183 + 17497 * SM + (1 + 32 s / page) * warp slot, modulo the pages of an access block
//   region  16 pages and a counter of how often a walk found nothing there; pass 1 of the walk goes from the start page
//           towards the end of the pool and skips regions whose counter has reached 3/4 of the region, pass 2 looks
//           everywhere
//   access block  an equal slice of the pool; requests start in the first one that no walk has left behind
// The lanes of a warp that ask for the same size search together. The hash puts warps about as many pages apart as 32
// chunks fill, so the lanes take consecutive chunks of consecutive pages; a walk looks at two pages per lane at a
// time.
//
// Differs from the public code, in which each lane walks alone: lanes that have their chunk go on looking for the
// others (the last requests of a pool of 10 GB took 2.4 s without this, 0.06 with it). With one access block pass 1
// ends after 64 steps, for pass 2 sees more at once and a full pool has a counter to skip for every 16 pages. Pass 2
// goes once around, near where the last one of this SM found room: from the start page all warps of an SM would walk
// over everything that those before them have filled. Each warp slot begins at a window of its own. 13.6 million pages
// of 256 B chunks fill in 1.3 s (12 s from the start pages).
//
// All words here are hints: relaxed, wrong values cost time only.
#pragma once

#include "allocators/common/modulo.hpp"
#include "simt/simt.hpp"

namespace allocbench::scatteralloc {

struct Regions {
  static constexpr std::uint32_t resume_words = 256;

  std::uint32_t* failures = nullptr;  // walks that found nothing, per region
  std::uint32_t* first_block = nullptr;
  std::uint32_t* resume = nullptr;  // per SM: where pass 2 begins for warp slot 0, and 1; 0: nowhere yet
  std::uint32_t count = 0;
  std::uint32_t shift = 4;     // log2 of the pages of a region
  std::uint32_t pages = 0;     // of the pool
  std::uint32_t blocks = 1;    // access blocks
  Modulo pages_per_block;      // a multiple of the region size
  std::uint32_t rehashes = 8;  // scattered tries between the hash and the walk

  SIMT_FN std::uint32_t region_pages() const { return 1u << shift; }

  // Pass 1 of a walk skips a region from this number of failures on.
  SIMT_FN std::uint32_t skip_from() const { return shift < 2 ? region_pages() : region_pages() / 4 * 3; }

  template <class Thread>
  SIMT_FN std::uint32_t hash(Thread& thread, std::uint32_t chunk, std::uint32_t page_shift) const {
    const std::uint32_t warp_distance = 1 + (chunk << 5 >> page_shift);
    const std::uint32_t page =
        pages_per_block(chunk * 38183u + 17497u * thread.sm() + warp_distance * thread.warp_slot());
    if (blocks == 1) return page;
    return thread.atomic(*first_block).load(simt::relaxed) * pages_per_block.divisor() + page;
  }

  // Any page of the pool, the same for all lanes of a warp; `attempt` tells the tries apart.
  template <class Thread>
  SIMT_FN std::uint32_t scattered(Thread& thread, std::uint32_t chunk, std::uint32_t attempt) const {
    std::uint32_t x = (thread.block() * 32 + thread.warp_in_block()) * 16 + attempt + (chunk << 20);
    x = (x ^ x >> 16) * 0x85ebca6bu;  // the finalizer of MurmurHash3
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return simt::multiply_high(x ^ x >> 16, pages);
  }

  // The calling SM's; SMs may share one.
  template <class Thread>
  SIMT_FN std::uint32_t& resume_of(Thread& thread) const {
    return resume[thread.sm() % resume_words];
  }

  SIMT_FN std::uint32_t end_of_region(std::uint32_t page) const {
    const std::uint32_t end = ((page >> shift) + 1) << shift;
    return end < pages ? end : pages;
  }

  // A walk found nothing in this region.
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

  // A chunk of this page was freed that leaves half of the page free.
  template <class Thread>
  SIMT_FN void has_room(Thread& thread, std::uint32_t page) const {
    thread.atomic(failures[page >> shift]).store(0u, simt::relaxed);
    if (blocks == 1) return;
    const std::uint32_t block = page / pages_per_block.divisor();
    const auto first = thread.atomic(*first_block);
    if (block < first.load(simt::relaxed)) first.fetch_min(block, simt::relaxed);
  }
};

// The two passes of a walk. All lanes of the group hold equal copies.
class Walk {
 public:
  static constexpr std::uint32_t no_page = 0xffffffffu;

  SIMT_FN explicit Walk(std::uint32_t start_page, const Regions& regions)
      : page_(start_page), region_end_(regions.end_of_region(start_page)), start_or_left_(start_page) {}

  // Goes on to the window that the group looks at next; false at the end of pass 2.
  template <class Thread, class Group>
  SIMT_FN bool next(Thread& thread, const Regions& regions, const Group& group) {
    if (steps_left_ != 0 && page_ >= region_end_) leave_region(thread, regions, group);
    return steps_left_ != 0 || start_or_left_ != 0;
  }

  // A page of the window for which room(page table entry) holds, another one for each lane; no_page for lanes without.
  template <class Thread, class Group, class Room>
  SIMT_FN std::uint32_t look(Thread& thread, const Regions& regions, const Group& group, std::uint64_t* entries,
                             Room room) const {
    const std::uint32_t pages = window(regions);
    std::uint64_t seen[looks];  // all loads at once
    for (std::uint32_t i = 0; i < looks; ++i) {
      const std::uint32_t place = group.thread_rank() + i * group.num_threads();
      if (place < pages) seen[i] = thread.atomic(entries[page_ + place]).load(simt::relaxed);
    }
    std::uint32_t found = no_page;
    for (std::uint32_t i = looks; i-- > 0;) {
      const std::uint32_t place = group.thread_rank() + i * group.num_threads();
      if (place < pages && room(seen[i])) found = page_ + place;
    }
    return found;
  }

  // To be called after every look. Goes on when nobody saw room, and when too many looks in a row served nobody: pass 1
  // leaves a crowd soon, pass 2 only because the others might take and free for ever.
  template <class Thread, class Group>
  SIMT_FN void look_done(Thread& thread, const Regions& regions, const Group& group, bool saw_room, bool served_some) {
    const bool pass_2 = steps_left_ == 0;
    if (pass_2 && served_some && group.leader()) {
      const std::uint32_t back = distance(thread, regions);
      const std::uint32_t resume = page_ < back ? page_ + regions.pages - back : page_ - back;
      thread.atomic(regions.resume_of(thread)).store(resume + 1, simt::relaxed);
    }
    misses_ = saw_room && !served_some ? misses_ + 1 : 0;
    if (saw_room && misses_ < (pass_2 ? 64 : 4)) return;
    misses_ = 0;
    const std::uint32_t seen = group.num_threads() * looks;
    const std::uint32_t pages = seen < window(regions) ? seen : window(regions);
    page_ += pages;
    if (!pass_2) return;
    start_or_left_ -= pages;
    if (page_ == regions.pages) page_ = 0;
  }

 private:
  static constexpr std::uint32_t looks = 2;

  // Of this warp slot's first window in pass 2 from that of slot 0.
  template <class Thread>
  SIMT_FN static std::uint32_t distance(Thread& thread, const Regions& regions) {
    return thread.warp_slot() * simt::warp_size * looks % regions.pages;
  }

  SIMT_FN std::uint32_t window(const Regions& regions) const {
    if (steps_left_ != 0) return region_end_ - page_;
    const std::uint32_t to_end = regions.pages - page_;
    return start_or_left_ < to_end ? start_or_left_ : to_end;
  }

  // Counts the failure and goes on to the first region that pass 1 may visit, or to pass 2; a step is a look at one
  // counter per lane.
  template <class Thread, class Group>
  SIMT_FN void leave_region(Thread& thread, const Regions& regions, const Group& group) {
    std::uint32_t region = (region_end_ - 1) >> regions.shift;
    if (group.leader()) regions.failed(thread, region);
    for (++region; region < regions.count; region += group.num_threads()) {
      if (regions.blocks == 1 && --steps_left_ == 0) break;  // else only a whole pass 1 tells which block is full
      const std::uint32_t mine = region + group.thread_rank();
      const bool open =
          mine < regions.count && thread.atomic(regions.failures[mine]).load(simt::relaxed) < regions.skip_from();
      const simt::LaneMask lanes = group.ballot(open);
      if (lanes == 0) continue;
      page_ = group.shfl_lane(mine, simt::count_trailing_zeros(lanes)) << regions.shift;
      region_end_ = regions.end_of_region(page_);
      return;
    }
    steps_left_ = 0;
    const std::uint32_t resume = thread.atomic(regions.resume_of(thread)).load(simt::relaxed);
    page_ = start_or_left_;
    if (resume != 0) {
      page_ = resume - 1 + distance(thread, regions);
      if (page_ >= regions.pages) page_ -= regions.pages;
    }
    page_ = group.broadcast(page_);
    start_or_left_ = regions.pages;
  }

  std::uint32_t page_;
  std::uint32_t region_end_;       // of pass 1
  std::uint32_t start_or_left_;    // in pass 1 the start page, in pass 2 the pages to come
  std::uint32_t steps_left_ = 64;  // of pass 1; 0: pass 2
  std::uint32_t misses_ = 0;
};

}  // namespace allocbench::scatteralloc
