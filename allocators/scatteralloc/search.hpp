// Where ScatterAlloc looks for a page: the hash, a few scattered tries, then a walk over regions.
//
// Steinberger et al. 2012; constants and thresholds of the authors' public code, version 1.0:
//   hash    start = s * 38183 + 17497 * SM + (1 + 32 s / page) * warp slot, modulo the pages of an access block
//   region  16 pages and a counter of how often a walk found nothing there; pass 1 of the walk goes from the start page
//           to the end of the pool and skips regions whose counter has reached 3/4 of the region, pass 2 looks
//           everywhere
//   access block  an equal slice of the pool; requests start in the first one that no walk has left behind
// The lanes of a warp that ask for the same size search together. The hash puts warps about as many pages apart as 32
// chunks fill, so the lanes take consecutive chunks of consecutive pages; a walk looks at one page per lane at a time.
//
// All words here are hints: relaxed, wrong values cost time only.
#pragma once

#include "allocators/common/modulo.hpp"
#include "simt/simt.hpp"

namespace allocbench::scatteralloc {

struct Regions {
  std::uint32_t* failures = nullptr;  // walks that found nothing, per region
  std::uint32_t* first_block = nullptr;
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
  SIMT_FN explicit Walk(std::uint32_t start_page, const Regions& regions)
      : region_(start_page >> regions.shift), offset_(start_page & (regions.region_pages() - 1)) {}

  // First page of the window that the group looks at next; false at the end of pass 2.
  template <class Thread, class Group>
  SIMT_FN bool next(Thread& thread, const Regions& regions, const Group& group, std::uint32_t& page) {
    while (region_ < regions.count) {
      if (offset_ == 0 && first_pass_ && !skip_full_regions(thread, regions, group)) continue;
      page = (region_ << regions.shift) + offset_;
      if (offset_ < regions.region_pages() && page < regions.pages) return true;
      leave_region(thread, regions, group);
      if (region_ >= regions.count && first_pass_) {
        first_pass_ = false;
        region_ = 0;
      }
    }
    return false;
  }

  // The lanes of the window: those that may look at page first + rank.
  SIMT_FN bool in_window(const Regions& regions, std::uint32_t rank, std::uint32_t page) const {
    return offset_ + rank < regions.region_pages() && page + rank < regions.pages;
  }

  // To be called after every look: nobody saw room, or several looks in a row served nobody.
  SIMT_FN void look_done(bool saw_room, bool served_some, std::uint32_t lanes) {
    misses_ = saw_room && !served_some ? misses_ + 1 : 0;
    if (saw_room && misses_ < 4) return;
    misses_ = 0;
    offset_ += lanes;
  }

 private:
  // Goes on to the first region that pass 1 may visit; a look at one counter per lane. False: none among these.
  template <class Thread, class Group>
  SIMT_FN bool skip_full_regions(Thread& thread, const Regions& regions, const Group& group) {
    const std::uint32_t mine = region_ + group.thread_rank();
    const bool open =
        mine < regions.count && thread.atomic(regions.failures[mine]).load(simt::relaxed) < regions.skip_from();
    const simt::LaneMask lanes = group.ballot(open);
    if (lanes != 0) {
      region_ = group.shfl_lane(mine, simt::count_trailing_zeros(lanes));
      return true;
    }
    region_ += group.num_threads();
    if (region_ >= regions.count) {
      first_pass_ = false;
      region_ = 0;
    }
    return false;
  }

  template <class Thread, class Group>
  SIMT_FN void leave_region(Thread& thread, const Regions& regions, const Group& group) {
    if (first_pass_ && group.leader()) {
      const auto failures = thread.atomic(regions.failures[region_]);
      std::uint32_t seen = failures.load(simt::relaxed);
      if (seen < regions.region_pages()) failures.compare_exchange(seen, seen + 1, simt::relaxed, simt::relaxed);
      if (regions.blocks != 1) {
        const std::uint32_t next_block = ((region_ + 1) << regions.shift) / regions.pages_per_block.divisor();
        const bool left_block = ((region_ + 1) << regions.shift) % regions.pages_per_block.divisor() == 0;
        if (left_block && next_block < regions.blocks) {
          thread.atomic(*regions.first_block).store(next_block, simt::relaxed);
        }
      }
    }
    ++region_;
    offset_ = 0;
  }

  std::uint32_t region_;
  std::uint32_t offset_;
  std::uint32_t misses_ = 0;
  bool first_pass_ = true;
};

}  // namespace allocbench::scatteralloc
