// RegionRuns takes runs of pages whose bits may lie in several words of the bitmap. A run is shorter than a region
// (Pham et al. 2025, section 4.3).
//
// The members of a group read 32 consecutive words, one word each, beginning at a random word. In a group of fewer than
// 32 lanes, members read several words, one after the other. Every word is broadcast to all members, so that they all
// see the same words. The paper says: "Free segments running across two neighboring words will also be connected". So a
// segment continues in the next word. A segment ends at the first page in use, at the end of the pool or at the end of
// the region. Each free segment is offered once, to all lanes that still need pages, as soon as it ends. So the table K
// of all segments, which the paper describes, is not needed.
//
// Protocol: One OR per word takes the word's part of a run (acquire). If an OR finds a page taken, ANDs (release) undo
// this OR and the earlier ones, so a run is taken as a whole or not at all. Until these ANDs, other threads may see
// free pages as taken. One AND per word frees a run (release).
#pragma once

#include "allocators/random_walk/bitmap.hpp"

namespace allocbench::random_walk {

// Segment is a row of free pages that is offered to the lanes. `pages` is 0 if there is none.
struct Segment {
  std::uint32_t first = 0;
  std::uint32_t pages = 0;
};

class RegionRuns {
 public:
  static constexpr std::uint32_t region_words = 32;
  // The paper limits a run: it is "smaller than the size of a bitmap region".
  static constexpr std::uint32_t most_pages = region_words * 32 - 1;

  using Bitmap = PageBitmap<Locking::none>;
  SIMT_FN explicit RegionRuns(const Bitmap& bitmap) : bitmap_(bitmap) {}

  // Visits the region that begins at word `base`. All members must call this function, and those that need nothing help
  // to read words. If a member gets its run, this function sets the member's `need` to 0 and returns the run's first
  // page. Other members get `page` back.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t visit(Thread& thread, const Group& group, std::uint32_t base, std::uint32_t& need,
                              std::uint32_t page) const {
    const std::uint32_t words = bitmap_.grid.words_with_pages;
    const std::uint32_t members = group.num_threads();
    std::uint32_t own = 0;
    const std::uint32_t looks = words < region_words ? words : region_words;
    Segment segment;
    for (std::uint32_t i = 0; i < looks; ++i) {
      const std::uint32_t word = (base + i) % words;
      if (i % members == 0) own = load(thread, (base + i + group.thread_rank()) % words);
      const std::uint32_t seen = group.shfl(own, i % members);
      // If the scan has wrapped, page 0 does not follow the last page in memory, so the segment ends.
      if (word == 0) offer(thread, group, segment, need, page);
      for (std::uint32_t at = 0; at < 32;) {
        const std::uint32_t above = seen >> at;
        if ((above & 1) != 0) {
          offer(thread, group, segment, need, page);
          at += ~above == 0 ? 32 : simt::count_trailing_zeros(~above);
        } else {
          const std::uint32_t free = above == 0 ? 32 - at : simt::count_trailing_zeros(above);
          if (segment.pages == 0) segment.first = word * 32 + at;
          segment.pages += free;
          at += free;
        }
      }
    }
    offer(thread, group, segment, need, page);
    return page;
  }

  template <class Thread>
  SIMT_FN void give_back(Thread& thread, std::uint32_t first, std::uint32_t pages) const {
    while (pages != 0) {
      const std::uint32_t in_word = part(first, pages);
      thread.atomic(bitmap_.words[first / 32]).fetch_and(~bits(first % 32, in_word), simt::release);
      first += in_word;
      pages -= in_word;
    }
  }

  // Returns a word with `pages` consecutive set bits, of which `first` is the lowest. Requires 1 <= pages <= 32.
  static SIMT_HOST_FN std::uint32_t bits(std::uint32_t first, std::uint32_t pages) {
    return full_word >> (32 - pages) << first;
  }

 private:
  template <class Thread>
  SIMT_FN std::uint32_t load(Thread& thread, std::uint32_t word) const {
    return thread.atomic(bitmap_.words[word]).load(simt::relaxed);
  }

  // Returns how many of `pages` pages, of which `first` is the lowest, are in the word of `first`.
  static SIMT_HOST_FN std::uint32_t part(std::uint32_t first, std::uint32_t pages) {
    const std::uint32_t left = 32 - first % 32;
    return pages < left ? pages : left;
  }

  // Offers the segment to the lanes that need pages, and empties it. The lowest lane for which it is long enough tries
  // to take the segment's first `need` pages. If this succeeds, this lane's `page` becomes the first of these pages,
  // and the lane's `need` becomes 0.
  template <class Thread, class Group>
  SIMT_FN void offer(Thread& thread, const Group& group, Segment& segment, std::uint32_t& need,
                     std::uint32_t& page) const {
    if (segment.pages == 0) return;
    const simt::LaneMask takers = group.ballot(need != 0 && segment.pages >= need);
    const bool mine = takers != 0 && simt::count_trailing_zeros(takers) == thread.lane();
    if (mine && take(thread, segment.first, need)) {
      page = segment.first;
      need = 0;
    }
    segment.pages = 0;
  }

  template <class Thread>
  SIMT_FN bool take(Thread& thread, std::uint32_t first, std::uint32_t pages) const {
    for (std::uint32_t taken = 0; taken < pages;) {
      const std::uint32_t at = first + taken;
      const std::uint32_t in_word = part(at, pages - taken);
      const std::uint32_t wanted = bits(at % 32, in_word);
      const std::uint32_t before = thread.atomic(bitmap_.words[at / 32]).fetch_or(wanted, simt::acquire);
      if ((before & wanted) != 0) {
        thread.probe(simt::Step::retry);
        thread.atomic(bitmap_.words[at / 32]).fetch_and(~(wanted & ~before), simt::release);
        give_back(thread, first, taken);
        return false;
      }
      taken += in_word;
    }
    return true;
  }

  const Bitmap& bitmap_;
};

}  // namespace allocbench::random_walk
