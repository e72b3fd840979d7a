// RW_malloc, reworked, finds consecutive pages by a random walk that the lanes of a warp make together. Small requests
// of a warp share pages.
//
// Paper: Pham et al. 2025, section 4.3 and algorithm 6.
//
// Idea: A request of n pages needs n free pages in a row. The lanes of a warp look together at one random region of 32
// words (bitmap.hpp), each at its own word. If several lanes request less than a page, one run serves the sum of their
// requests. Each of these lanes, the members of the run, gets a part of it.
//
// Data: one 64-bit word of run state per 32 pages (run_word.hpp), and `members_`, which has one byte per page in
// words of 32 bits. The byte of the first page of a shared run is the number of members that still hold their parts.
//
// Protocol: A compare-exchange of the word takes a run (acquire), and an AND frees it (release). The last member that
// subtracts itself frees a shared run (acq_rel). Equal words mean equal states of all 32 pages, so there is no ABA.
//
// Differs from the published form (rw_malloc.hpp):
// * The words of a region rotate among the lanes. In every pass, all lanes in need try at once, each at a different
//   word. Algorithm 6 serves one lane after the other, each after a round trip to memory. In a word, a lane takes the
//   first fit, as published.
// * If a lane gets no run because other lanes have filled a word that looked free, all lanes load their words again, in
//   one trip to memory. Without these loads, a lane in need would try many words that only look free.
// * State and length of a run are in one word, which one compare-exchange changes. So a failed attempt leaves no bits
//   to clear, and a free reads the length from the word that it clears.
// * Members of one run that free their parts together subtract themselves in one operation.
// * A region begins at a multiple of 32 words, so it consists of whole lines of memory.
// * If a search finds no run that the small requests of a warp can share, each member searches for a page of its own.
//
// Runs lie within one word of 32 pages, so longer requests are refused.
#pragma once

#include "allocators/random_walk/bitmap.hpp"
#include "allocators/random_walk/run_word.hpp"
#include "allocators/random_walk/small_requests.hpp"

namespace allocbench {

class RandomWalkMallocReworked {
 public:
  using Parameters = random_walk::PageParameters;
  static constexpr Traits traits{.name = "rw_malloc_reworked",
                                 .display_name = "RW_malloc, reworked",
                                 .paper = "Pham et al. 2025, sec. 4.3",
                                 .summary =
                                     "up to 32 pages in a row, found by a warp in a random region; small "
                                     "requests of a warp share pages",
                                 .form = Form::reworked,
                                 .step = StepUnit::probe};

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return std::min<std::size_t>(pool_bytes / parameters.page_bytes, random_walk::run_word::most_pages) *
           parameters.page_bytes;
  }
  // The heap has three words of the bitmap. A lone lane cannot share pages, so with fewer pages the small blocks of a
  // model (check/) would not fit.
  static SmallHeap<Parameters> small_heap() { return {96 * 32, {.page_bytes = 32, .scarce_share = 0.005}}; }
  // This heap has 24 pages, in one word of the bitmap. Up to eight blocks of 16 bytes share a page.
  static SmallHeap<Parameters> second_small_heap() { return {24 * 128, {.page_bytes = 128, .scarce_share = 0.01}}; }

  static RandomWalkMallocReworked create(Arena& arena, const Parameters& parameters) {
    RandomWalkMallocReworked allocator;
    allocator.pages_ = PageArray::of_arena(arena, parameters.page_bytes, traits.name);
    allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
    allocator.grid_ = random_walk::WordGrid::of_pages(allocator.pages_.count);
    allocator.words_ = arena.metadata<std::uint64_t>(allocator.grid_.words());
    allocator.members_ = arena.metadata<std::uint32_t>(allocator.member_words());
    allocator.most_word_probes_ = random_walk::vain_word_probes(parameters.scarce_share, allocator.grid_.words());
    allocator.seed_ = parameters.seed;
    allocator.reset(arena.stream());
    return allocator;
  }

  void reset(simt::Stream& stream) {
    random_walk::clear_words(stream, words_, grid_, pages_.count);
    simt::device_fill(stream, members_, 0, member_words() * sizeof *members_);
  }

  // workloads/support/occupancy/occupancy.hpp describes these two functions. Each used page becomes a run of one page.
  std::uint32_t page_count() const { return pages_.count; }
  template <class Used>
  void occupy(simt::Stream& stream, const Used& used) const {
    random_walk::write_words(stream, words_, grid_, pages_.count, used);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const auto group = thread.converged();  // refused lanes help the others to search
    const auto small = random_walk::SmallRequests::of(thread, group, bytes, pages_.bytes());
    bool share = small.count() > 1;
    std::uint32_t need = pages_for(bytes);
    if (share && small.mine) need = thread.lane() == small.sharer ? pages_for(small.total) : 0;
    random_walk::Walk walk(thread, group, seed_);
    std::uint32_t page = no_page;
    for (;;) {
      const std::uint32_t found = find_runs(thread, group, walk, need, share && small.mine);
      if (need != 0) page = found;
      if (!share) return page == no_page ? nullptr : pages_.address(page);
      const std::uint32_t first = group.shfl_lane(page, small.sharer);
      if (first != no_page) {
        if (thread.lane() == small.sharer) count_in(thread, first, small.count());
        group.sync();  // the members see the former owners' writes and the count
        if (small.mine) return pages_.address(first) + small.before;
        return page == no_page ? nullptr : pages_.address(page);
      }
      share = false;
      need = small.mine ? 1 : 0;
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t page = pages_.page_of(block);
    const auto word = thread.atomic(words_[page / 32]);
    const random_walk::PageRun run = random_walk::run_word::run_at(word.load(simt::relaxed), page % 32);
    if (run.shared) {
      const std::uint32_t first = page / 32 * 32 + run.first;
      const auto group = thread.converged().match_any(first);
      group.sync();  // the leader's release covers all lanes
      if (!group.leader() || !count_out(thread, first, group.num_threads())) return;
    }
    word.fetch_and(~random_walk::run_word::bits_to_clear(run), simt::release);
  }

  std::string broken_invariant(simt::Stream& stream) const;

 private:
  // Returns the number of pages for a request, or 0 if the request is refused.
  SIMT_FN std::uint32_t pages_for(std::size_t bytes) const {
    if (limit_.refuses(bytes)) return 0;
    return static_cast<std::uint32_t>(units_of(std::uint64_t{bytes}, pages_.shift));
  }

  // Finds and takes a run of `need` pages for each member whose `need` is not 0. Returns the first page of the caller's
  // run, or no_page if there is none. `shared` marks this run as shared. All members must call find_runs().
  template <class Thread, class Group>
  SIMT_FN std::uint32_t find_runs(Thread& thread, const Group& group, random_walk::Walk& walk, std::uint32_t need,
                                  bool shared) const {
    namespace run_word = random_walk::run_word;
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t rank = group.thread_rank();
    // Each lane holds a word of the bitmap. After a pass, it continues with the word that the lane `neighbour` held.
    const simt::LaneMask above = group.mask() & ~(0xffffffffu >> (31 - thread.lane()));
    const std::uint32_t neighbour = above != 0 ? simt::count_trailing_zeros(above) : group.leader_lane();
    std::uint32_t page = no_page;
    std::uint32_t vain = 0;  // regions seen in a row without taking a run
    simt::LaneMask needy = group.ballot(need != 0);
    for (;;) {
      const std::uint32_t longest = group.reduce_max(need);
      if (needy == 0 || vain >= std::uint64_t{most_word_probes_} * longest) return page;
      const std::uint32_t shortest = 33 - group.reduce_max(need == 0 ? 0 : 33 - need);
      thread.probe(simt::Step::attempt);
      std::uint32_t word = grid_.word_of_member(walk.next(grid_.positions()), rank);
      std::uint64_t seen = thread.atomic(words_[word]).load(simt::relaxed);
      ++vain;
      for (std::uint32_t pass = 0; pass < lanes; ++pass) {
        if (!group.any(run_word::starts_of_free_runs(seen, shortest) != 0)) break;
        bool outdated = false;  // true if this lane tried a word that other lanes had filled
        if (need != 0) {
          std::uint32_t starts = run_word::starts_of_free_runs(seen, need);
          outdated = starts != 0;
          for (std::uint32_t tries = 0; starts != 0 && need != 0 && tries < 32; ++tries) {
            const random_walk::PageRun run{simt::count_trailing_zeros(starts), need, shared};
            const std::uint64_t after = seen | run_word::bits_of(run);
            if (thread.atomic(words_[word]).compare_exchange(seen, after, simt::acquire, simt::relaxed)) {
              seen = after;
              page = word * 32 + run.first;
              need = 0;
            } else {
              thread.probe(simt::Step::retry);
              starts = run_word::starts_of_free_runs(seen, need);
            }
          }
        }
        const simt::LaneMask left = group.ballot(need != 0);
        if (left == 0) return page;
        if (left != needy) vain = 0;
        needy = left;
        word = group.shfl_lane(word, neighbour);
        seen = group.shfl_lane(seen, neighbour);
        if (group.any(outdated && need != 0)) seen = thread.atomic(words_[word]).load(simt::relaxed);
      }
    }
  }

  // Returns the number of words of `members_`. A word has four counts.
  std::uint32_t member_words() const { return (grid_.positions() - 1) / 4 + 1; }

  template <class Thread>
  SIMT_FN void count_in(Thread& thread, std::uint32_t first, std::uint32_t members) const {
    thread.atomic(members_[first / 4]).fetch_add(members << (first % 4 * 8), simt::relaxed);
  }
  // Subtracts members from a shared run. Returns true if no member is left.
  template <class Thread>
  SIMT_FN bool count_out(Thread& thread, std::uint32_t first, std::uint32_t members) const {
    const std::uint32_t shift = first % 4 * 8;
    const std::uint32_t before = thread.atomic(members_[first / 4]).fetch_sub(members << shift, simt::acq_rel);
    return (before >> shift & 0xffu) == members;
  }

  PageArray pages_;
  RequestLimit limit_;
  random_walk::WordGrid grid_;
  std::uint64_t* words_ = nullptr;
  std::uint32_t* members_ = nullptr;
  std::uint32_t most_word_probes_ = 0;  // vain probes after which a request for one page gives up
  std::uint32_t seed_ = 0;
};

// Checks that no position beyond the pool is free, and that every page that continues a run follows a page of a run.
// Also checks that shared runs have 1 to 32 members and all other pages have none.
inline std::string RandomWalkMallocReworked::broken_invariant(simt::Stream& stream) const {
  namespace run_word = random_walk::run_word;
  std::vector<std::uint64_t> words(grid_.words());
  simt::copy_to_host(stream, words.data(), words_, words.size() * sizeof words[0]);
  std::vector<std::uint32_t> members(member_words());
  simt::copy_to_host(stream, members.data(), members_, members.size() * sizeof members[0]);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    const std::uint32_t low = run_word::low(words[i]);
    const std::uint32_t high = run_word::high(words[i]);
    const std::string place = "word " + std::to_string(i);
    if ((random_walk::surplus_bits(i, pages_.count) & ~(low & high)) != 0) {
      return place + " offers pages beyond the end of the pool";
    }
    const std::uint32_t continued = low & ~high;
    if ((continued & ~((low | high) << 1)) != 0) return place + " has a page that continues no run";
    for (std::uint32_t page = 0; page < 32; ++page) {
      const std::uint32_t count = members[(i * 32 + page) / 4] >> (page % 4 * 8) & 0xff;
      const bool shared = (high & ~low) >> page & 1;
      if (shared != (count != 0) || count > simt::warp_size) {
        return place + ", page " + std::to_string(page) + ": " + std::to_string(count) + " members";
      }
    }
  }
  return {};
}

}  // namespace allocbench

ALLOCBENCH_REGISTER(rw_malloc_reworked, RandomWalkMallocReworked)
