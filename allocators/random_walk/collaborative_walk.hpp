// CoRW is a random walk in which the lanes of a warp walk together and share the pages that they find.
//
// Paper: Pham et al. 2025, section 4.1, algorithms 3 and 4.
//
// Idea: In RW-BM a warp waits for its slowest lane. In CoRW every lane probes a word in every round, even if it already
// has a page. Words with free pages serve the lanes that still need one. The r-th lane in need takes the page of the
// r-th giving lane. Popcounts and one shuffle find this page. All lanes leave together. Only the lanes of the group
// that converged() returns at the call take part. Other lanes of the warp form their own groups.
//
// Data: bitmap.hpp describes the data. In corw_64, words have 64 bits.
//
// Differs from the paper (corw):
// * The differences of rw_bm apply (bitmap_walk.hpp), except one: the paper's CoRW releases its lock. The authors'
//   public code has no lock: a warp takes 32 neighbouring words by exchanges, and can lose concurrent frees. So mallocs
//   of corw take longer than those of the authors' code at 16 bytes and 4 KiB, but not at 256 bytes
//   (results/reference/h200/originals.md). Times of frees differ mostly because they are measured differently
//   (bump/atomic_malloc.hpp).
// * In a pass, a lane gives a page only if a lane will receive it: the lanes in need must outnumber the lower lanes
//   whose words have free pages. In the paper's algorithm, pages without a receiver stay marked.
// * The out-of-memory rule counts the words that a round could lock. Any found page restarts the count.
//
// Reworked (corw_reworked):
// * There is no LockMap.
// * The members probe the words of one random region, a line of memory, instead of words all over the bitmap. The word
//   of each member is still uniformly random.
// * In the first round, each member ORs a bit of its word without a load. The random place of the bit is the same for
//   all members. So if many pages are free, the warp usually makes one trip to one line.
// * A round counts like one word, although it loads up to 32. Warps use up the words of a region together, so 32 words
//   say little more about the pool than one. If each word counted, a walk could fail with 1 % of the pages free.
#pragma once

#include "allocators/random_walk/bitmap_pages.hpp"

namespace allocbench {
namespace random_walk {

template <Locking locking, class Word = std::uint32_t>
class CollaborativeWalk : public BitmapPages<locking, Word> {
  using BitmapPages<locking, Word>::bitmap_;
  using Bitmap = PageBitmap<locking, Word>;

 public:
  using typename BitmapPages<locking, Word>::Parameters;

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bitmap_.pages.limit.refuses(bytes)) return nullptr;
    const auto group = thread.converged();
    std::uint32_t page = no_page;
    std::uint32_t word = 0;
    Word seen = Bitmap::full;
    Walk walk = start_walk(thread, group);
    if constexpr (locking == Locking::none) {
      thread.probe(simt::Step::attempt);
      const std::uint32_t position = walk.next(bitmap_.grid.positions());
      word = bitmap_.grid.word_of_member(position, group.thread_rank());
      const std::uint32_t index = position % 32;
      const std::uint32_t before = thread.atomic(bitmap_.words[word]).fetch_or(1u << index, simt::acquire);
      const bool won = (before >> index & 1) == 0;
      thread.note(simt::Note::pages_seen, simt::popcount(~before));
      if (won) page = word * 32 + index;
      if (group.all(won)) return bitmap_.pages.address(page);
      seen = before | 1u << index;
    }
    page = collaborate(thread, group, walk, page, word, seen);
    return page == no_page ? nullptr : bitmap_.pages.address(page);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    bitmap_.free(thread, block);
  }

 protected:
  static CollaborativeWalk lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    CollaborativeWalk allocator;
    allocator.bitmap_ = Bitmap::create(arena, parameters, name);
    return allocator;
  }

 private:
  template <class Thread, class Group>
  SIMT_FN Walk start_walk(Thread& thread, const Group& group) const {
    if constexpr (locking == Locking::none) return Walk(thread, group, bitmap_.seed);
    return Walk(thread, bitmap_.seed);
  }

  // Makes rounds until every member has a page or the walk gives up. Each member brings its page, if it has one, and a
  // word that contained `seen`. Returns the member's page, or no_page.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t collaborate(Thread& thread, const Group& group, Walk& walk, std::uint32_t page,
                                    std::uint32_t word, Word seen) const {
    const simt::LaneMask below = (simt::LaneMask{1} << thread.lane()) - 1;
    simt::LaneMask need = group.ballot(page == no_page);
    bool locked = false;
    bool first = true;
    std::uint32_t vain = 0;
    for (;;) {
      for (;;) {
        const simt::LaneMask has = group.ballot(seen != Bitmap::full);
        if (has == 0) break;
        std::uint32_t offer = no_page;
        if (seen != Bitmap::full && simt::popcount(has & below) < simt::popcount(need)) {
          offer = bitmap_.take_lowest(thread, word, seen);
        }
        const simt::LaneMask given = group.ballot(offer != no_page);
        const std::uint32_t rank = simt::popcount(need & below);
        const bool takes = page == no_page && rank < simt::popcount(given);
        const std::uint32_t taken = group.shfl_lane(offer, takes ? simt::nth_set_bit(given, rank) : thread.lane());
        if (takes) page = taken;
        need = group.ballot(page == no_page);
        if (given != 0) vain = 0;
        if (need == 0) break;
      }
      if (locked) bitmap_.unlock(thread, word);
      if (need == 0 || vain >= bitmap_.most_word_probes) break;
      thread.probe(simt::Step::attempt);
      if constexpr (locking == Locking::none) {
        word = bitmap_.grid.word_of_member(walk.next(bitmap_.grid.positions()), group.thread_rank());
        seen = thread.atomic(bitmap_.words[word]).load(simt::relaxed);
        ++vain;
      } else {
        word = walk.next(bitmap_.positions_in_words()) / Bitmap::word_bits;
        locked = bitmap_.try_lock(thread, word);
        seen = locked ? thread.atomic(bitmap_.words[word]).load(simt::relaxed) : Bitmap::full;
        if (first) thread.note(simt::Note::pages_seen, simt::popcount(~seen));
        first = false;
        const simt::LaneMask counted = group.ballot(locked);
        vain += simt::popcount(counted);
        if (counted == 0) thread.spin_hint();
      }
    }
    group.sync();  // the receiver of a page sees its former owner's writes
    return page;
  }
};

}  // namespace random_walk
}  // namespace allocbench
