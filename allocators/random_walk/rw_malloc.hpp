// RW_malloc finds consecutive pages by a random walk that the lanes of a warp make together. Small requests of a warp
// share pages.
//
// Paper: Pham et al. 2025, section 4.3 and algorithm 6.
//
// Idea: A request of n pages needs n free pages in a row. The lanes of a warp look together at consecutive words of the
// bitmap, beginning at a random word. Lane i looks at the i-th word. The lanes offer the runs of free pages that they
// see, one after the other. If a run is long enough for some lanes that still need pages, the lowest of these lanes
// tries to take the first n pages of the run by an atomic OR.
//
// Data: the bitmap (bitmap.hpp), and one word per page (`runs_`). The word of the first page of a taken run has the
// run's length and, if lanes share the run, the number of its members. A member is a lane that has a part of the run.
//
// Protocol: A thread wins the run if its OR finds all bits 0 (acquire). Otherwise the thread clears the bits that it
// set. An AND frees the run (release). The thread that wins a run writes the word of its first page, and members write
// the words of later pages in which their parts begin. Each member that frees its part subtracts itself from the word
// of the first page (acq_rel), and the last one frees the run.
//
// Differs from the paper:
// * Only the n pages of the request are marked. The paper's algorithm marks the whole run, an error that the authors'
//   code repairs. A failed OR is undone. The text and the authors' code omit this step, so pages are lost.
// * The paper does not describe free. Lengths lie outside the pool. In the authors' code a length is in a word before
//   the block. With pages of 256 bytes, a request for 8,192 bytes then needs 33 pages, and its search never ends. A
//   shared run is free when all members have freed their parts. In the authors' code it is free when the lowest lane
//   has freed its part.
// * Runs of rw_malloc lie within one word of 32 pages, as in the paper's algorithm, and longer requests are refused.
//   Runs of rw_malloc_regions may lie in several words, as the text of the paper says. They are shorter than a region
//   (region_runs.hpp).
// * Offers that are too short for every lane are skipped without a shuffle. This saves no access to memory.
// * We chose the memory orders. Philox makes the random numbers. The parts of a shared run are rounded up to multiples
//   of 16 bytes.
// * A search ends by the rule of section 3.2.3, which is for single pages. Here the 32 words of one step count like one
//   word. If n is the most pages that a lane needs, the search may have n times as many failed steps in a row as a
//   search for one page. In rw_malloc_regions it may have n / 32 times as many, rounded up.
#pragma once

#include <string_view>

#include "allocators/random_walk/bitmap.hpp"
#include "allocators/random_walk/flag_walk.hpp"
#include "allocators/random_walk/region_runs.hpp"
#include "allocators/random_walk/small_requests.hpp"

namespace allocbench {
namespace random_walk {

enum class Runs { in_words, in_regions };

template <Runs where>
class PublishedRuns {
 public:
  using Parameters = PageParameters;

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return std::min<std::size_t>(pool_bytes / parameters.page_bytes, most_pages) * parameters.page_bytes;
  }
  // The heap has three words of the bitmap. A lone lane cannot share pages, so with fewer pages the small blocks of a
  // model (check/) would not fit.
  static SmallHeap<Parameters> small_heap() { return {96 * 32, {.page_bytes = 32, .scarce_share = 0.005}}; }
  // This heap has 24 pages, in one word of the bitmap. Up to eight blocks of 16 bytes share a page.
  static SmallHeap<Parameters> second_small_heap() { return {24 * 128, {.page_bytes = 128, .scarce_share = 0.01}}; }

  void reset(simt::Stream& stream) { bitmap_.reset(stream); }

  // workloads/support/occupancy/occupancy.hpp describes these two functions. Each used page becomes a run of one page.
  std::uint32_t page_count() const { return bitmap_.pages.count; }
  template <class Used>
  void occupy(simt::Stream& stream, const Used& used) const {
    bitmap_.occupy(stream, used);
    constexpr std::uint32_t threads = 128;
    const std::uint32_t blocks = std::min((page_count() - 1) / threads + 1, 4096u);
    simt::launch(stream, {blocks, threads}, WriteFlags{}, runs_, page_count(), EveryPage{});
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const auto group = thread.converged();  // refused lanes help the others to search
    const auto small = SmallRequests::of(thread, group, bytes, bitmap_.pages.bytes());
    const bool shared = small.count() > 1;
    const bool asks = !shared || !small.mine || thread.lane() == small.sharer;
    const std::uint32_t need = !asks ? 0 : pages_for(shared && small.mine ? small.total : bytes);
    const std::uint32_t page = find_run(thread, group, need);
    if (page != no_page) {
      const std::uint32_t members = shared && small.mine ? small.count() * one_member : 0;
      thread.atomic(runs_[page]).store(need | members, simt::relaxed);
    }
    if (!shared) return page == no_page ? nullptr : bitmap_.pages.address(page);
    const std::uint32_t first = group.shfl_lane(page, small.sharer);
    void* block = nullptr;
    if (!small.mine) {
      if (page != no_page) block = bitmap_.pages.address(page);
    } else if (first != no_page) {
      block = bitmap_.pages.address(first) + small.before;
      const std::uint32_t back = small.before >> bitmap_.pages.shift;
      if (back != 0) thread.atomic(runs_[first + back]).store(back * one_page_back, simt::relaxed);
    }
    group.sync();  // the members see the former owners' writes and the count
    return block;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    std::uint32_t page = bitmap_.pages.page_of(block);
    std::uint32_t run = thread.atomic(runs_[page]).load(simt::relaxed);
    if ((run & (members_mask | back_mask)) != 0) {
      page -= run / one_page_back;
      run = thread.atomic(runs_[page]).fetch_sub(one_member, simt::acq_rel);
      if ((run & members_mask) != one_member) return;
    }
    if constexpr (where == Runs::in_regions) {
      RegionRuns(bitmap_).give_back(thread, page, run & pages_mask);
    } else {
      thread.atomic(bitmap_.words[page / 32]).fetch_and(~bits(page % 32, run & pages_mask), simt::release);
    }
  }

  std::string broken_invariant(simt::Stream& stream) const { return bitmap_.broken_invariant(stream); }

 protected:
  static PublishedRuns lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    PublishedRuns allocator;
    allocator.bitmap_ = Bitmap::create(arena, parameters, name);
    allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
    allocator.runs_ = arena.metadata<std::uint32_t>(allocator.page_count());
    return allocator;
  }

 private:
  using Bitmap = PageBitmap<Locking::none>;
  static constexpr std::uint32_t no_page = allocbench::no_page;
  static constexpr std::uint32_t most_pages = where == Runs::in_regions ? RegionRuns::most_pages : 32;

  // A word of `runs_` has these fields. For the first page of a run, it has the number of the run's pages. If lanes
  // share the run, it also has the number of members that still hold their parts. For a later page in which a member's
  // part begins, it has the distance to the first page.
  static constexpr std::uint32_t pages_mask = 0x7ff;
  static constexpr std::uint32_t one_member = 1u << 11;
  static constexpr std::uint32_t members_mask = 0xfful << 11;
  static constexpr std::uint32_t one_page_back = 1u << 19;
  static constexpr std::uint32_t back_mask = 0xfful << 19;

  // Run is a row of free pages that a lane offers. `pages` is 0 if the lane has none left.
  struct Run {
    std::uint32_t first;
    std::uint32_t pages;
  };

  // Returns the lowest run of clear bits in `seen`, the lane's copy of a word, and sets these bits there.
  static SIMT_FN Run next_run(std::uint32_t& seen) {
    if (seen == full_word) return {0, 0};
    const std::uint32_t first = simt::count_trailing_zeros(~seen);
    const std::uint32_t above = seen >> first;
    const std::uint32_t pages = above == 0 ? 32 - first : simt::count_trailing_zeros(above);
    seen |= bits(first, pages);
    return {first, pages};
  }

  // Returns a word with `pages` consecutive set bits, of which `first` is the lowest. Requires 1 <= pages <= 32.
  static SIMT_FN std::uint32_t bits(std::uint32_t first, std::uint32_t pages) { return RegionRuns::bits(first, pages); }

  // Returns the number of pages for a request, or 0 if the request is refused.
  SIMT_FN std::uint32_t pages_for(std::size_t bytes) const {
    if (limit_.refuses(bytes)) return 0;
    return static_cast<std::uint32_t>(units_of(std::uint64_t{bytes}, bitmap_.pages.shift));
  }

  // Finds and takes a run of `need` pages for each member whose `need` is not 0 (algorithm 6). Returns the first page
  // of the caller's run, or no_page if there is none. All members must call this function.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t find_run(Thread& thread, const Group& group, std::uint32_t need) const {
    const std::uint32_t words = bitmap_.grid.words_with_pages;
    Walk walk(thread, group, bitmap_.seed);
    std::uint32_t page = no_page;
    simt::LaneMask needy = group.ballot(need != 0);
    // The search ends after `most_vain` regions in a row that served no lane (the last item in the comment at the top).
    constexpr std::uint32_t looks_together = where == Runs::in_regions ? 32 : 1;
    const std::uint64_t most_vain =
        std::uint64_t{bitmap_.most_word_probes} * ((group.reduce_max(need) + looks_together - 1) / looks_together);
    for (std::uint64_t vain = 0; needy != 0 && vain < most_vain; ++vain) {
      thread.probe(simt::Step::attempt);
      const std::uint32_t base = walk.next(words);
      if constexpr (where == Runs::in_regions) {
        page = RegionRuns(bitmap_).visit(thread, group, base, need, page);
        const simt::LaneMask left = group.ballot(need != 0);
        if (left != needy) vain = 0;
        needy = left;
        continue;
      }
      std::uint32_t seen = thread.atomic(bitmap_.words[(base + thread.lane()) % words]).load(simt::relaxed);
      Run run = next_run(seen);
      for (;;) {
        const simt::LaneMask has = group.ballot(run.pages != 0);
        if (has == 0 || needy == 0) break;
        const std::uint32_t shortest = 33 - group.reduce_max(need == 0 ? 0 : 33 - need);
        for (simt::LaneMask rest = group.ballot(run.pages >= shortest); rest != 0; rest &= rest - 1) {
          const std::uint32_t lane = simt::count_trailing_zeros(rest);
          const std::uint32_t first = group.shfl_lane(run.first, lane);
          const bool fits = group.shfl_lane(run.pages, lane) >= need && need != 0;
          const simt::LaneMask takers = group.ballot(fits);
          if (!fits || simt::count_trailing_zeros(takers) != thread.lane()) continue;
          const std::uint32_t word = (base + lane) % words;
          if (try_take(thread, word, bits(first, need))) {
            page = word * 32 + first;
            need = 0;
          }
        }
        const simt::LaneMask left = group.ballot(need != 0);
        if (left != needy) vain = 0;
        needy = left;
        run = next_run(seen);
      }
    }
    return page;
  }

  template <class Thread>
  SIMT_FN bool try_take(Thread& thread, std::uint32_t word, std::uint32_t wanted) const {
    const std::uint32_t before = thread.atomic(bitmap_.words[word]).fetch_or(wanted, simt::acquire);
    if ((before & wanted) == 0) return true;
    thread.probe(simt::Step::retry);
    thread.atomic(bitmap_.words[word]).fetch_and(~(wanted & ~before), simt::release);
    return false;
  }

  Bitmap bitmap_;
  RequestLimit limit_;
  std::uint32_t* runs_ = nullptr;
};

}  // namespace random_walk

struct RandomWalkMalloc : random_walk::PublishedRuns<random_walk::Runs::in_words> {
  static constexpr Traits traits{.name = "rw_malloc",
                                 .display_name = "RW_malloc",
                                 .paper = "Pham et al. 2025, sec. 4.3",
                                 .summary =
                                     "up to 32 pages in a row, found by a warp in 32 words from a random one on; small "
                                     "requests of a warp share pages",
                                 .form = Form::published,
                                 .step = StepUnit::probe};
  static RandomWalkMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct RandomWalkMallocRegions : random_walk::PublishedRuns<random_walk::Runs::in_regions> {
  static constexpr Traits traits{.name = "rw_malloc_regions",
                                 .display_name = "RW_malloc, runs over words",
                                 .paper = "Pham et al. 2025, sec. 4.3",
                                 .summary =
                                     "as rw_malloc, with runs over the borders of words: up to 1,023 pages in a "
                                     "row of the 1,024 that a warp looks at",
                                 .form = Form::published,
                                 .step = StepUnit::probe};
  static RandomWalkMallocRegions create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rw_malloc, RandomWalkMalloc, RandomWalkMallocRegions)
