// Runs of pages over the borders of words, up to a region (Pham et al. 2025, section 4.3).
//
// The members of a group read consecutive words, the first 32 from a random one on; where a group is smaller, its
// members read more words later. Every word is handed to all members, so that they see the same ones. "Free segments
// running across two neighboring words will also be connected": the walk follows the addresses of the region. It offers
// each free segment once to the lanes that still need pages. A segment ends at the first page in use, at the end of the
// pool or at the end of the region. Protocol: an OR per word takes its part of a run (acquire). If one finds a page
// taken, ANDs (release) undo it and the earlier ones, so a run is taken as a whole or not at all. Until then others may
// see free pages as taken. An AND per word gives a run back (release).
#pragma once

#include "allocators/random_walk/bitmap.hpp"

namespace allocbench::random_walk {

// The free pages in a row that are offered; none: pages = 0.
struct Segment {
  std::uint32_t first = 0;
  std::uint32_t pages = 0;
};

class RegionRuns {
 public:
  static constexpr std::uint32_t region_words = 32;
  static constexpr std::uint32_t most_pages = region_words * 32 - 1;  // "smaller than the size of a bitmap region"

  using Bitmap = PageBitmap<Locking::none>;
  SIMT_FN explicit RegionRuns(const Bitmap& bitmap) : bitmap_(bitmap) {}

  // One region, from word `base` on. Lowers `need` to 0 and returns the first page for a member that gets its run. All
  // members call; those that need nothing also search. `page`: what the member has already.
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
      if (word == 0) offer(thread, group, segment, need, page);  // the front of the pool follows its end
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

  // 1 <= pages <= 32.
  static SIMT_HOST_FN std::uint32_t bits(std::uint32_t first, std::uint32_t pages) {
    return full_word >> (32 - pages) << first;
  }

 private:
  template <class Thread>
  SIMT_FN std::uint32_t load(Thread& thread, std::uint32_t word) const {
    return thread.atomic(bitmap_.words[word]).load(simt::relaxed);
  }

  // Number of the pages from `first` on that are in its word.
  static SIMT_HOST_FN std::uint32_t part(std::uint32_t first, std::uint32_t pages) {
    const std::uint32_t left = 32 - first % 32;
    return pages < left ? pages : left;
  }

  // Offers the segment and empties it: the lowest lane for which it is long enough takes its first pages.
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
