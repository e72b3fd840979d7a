// PageBitmap has one used bit per page, 32 or 64 to a word, and two ways to take a page of a random word.
//
// Paper: Pham et al. 2025, section 3.3 and algorithm 2. With words of w bits, bit j of word i belongs to page w * i +
// j; 1 means used. In memory, a word of 64 bits is a pair of words of 32 bits, and all code except walks and frees sees
// words of 32 bits. A region is 32 aligned words, or fewer in pools of at most 16 words. The lanes of a warp visit it
// together (CoRW and RW_malloc, both reworked). Positions beyond the end of the pool fill the last region and are
// always marked as used.
//
// * Locking::lock_map (published): Each word has a lock bit. A thread tries the lock once and never waits for it. If
//   another thread has locked the word, the thread goes to another word. In the paper, algorithms 2 and 5 never release
//   the lock. Here every path does. Frees do not take the lock, so bits are still changed only by OR and AND.
// * Locking::none (reworked; also RW_malloc as published, because algorithm 6 has no lock): The atomic OR that finds a
//   bit 0 wins it (acquire), and an atomic AND frees it (release). If another thread took the bit in between, the
//   thread tries the word again with its present bits.
//
// Words hold only bits of pages, so equal words mean the same free pages (no ABA).
//
// A failed attempt to lock a word gives no information about free pages, so it does not count for the rule that ends a
// walk. The walk ends anyway, because a holder makes a bounded number of steps and never waits for another lock.
//
// The rule assumes that free pages are at random places (page_parameters.hpp). However, walks choose words at random,
// not pages. So the remaining pages are in fewer words, and full words in a row are more frequent than by chance.
// Walks may therefore refuse a request although more pages are free than the rule says. The published forms keep the
// rule.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "allocators/random_walk/page_parameters.hpp"
#include "allocators/random_walk/walk.hpp"
#include "allocators/support/common/page_array.hpp"

namespace allocbench::random_walk {

enum class Locking { none, lock_map };

inline constexpr std::uint32_t full_word = 0xffffffffu;

// WordGrid has the numbers of words and regions for a number of pages. A position is a page, or a place beyond the end
// of the pool.
struct WordGrid {
  std::uint32_t region_shift = 0;  // log2 of the words of a region; below 5 in pools of at most 16 words
  std::uint32_t regions = 0;
  std::uint32_t words_with_pages = 0;

  // Makes the grid. A region has at least 2^least_shift words.
  static WordGrid of_pages(std::uint32_t pages, std::uint32_t least_shift = 0) {
    const std::uint32_t words = (pages - 1) / 32 + 1;
    const std::uint32_t shift =
        std::max(least_shift, std::min(5u, static_cast<std::uint32_t>(std::bit_width(words - 1))));
    return {shift, ((words - 1) >> shift) + 1, words};
  }
  SIMT_HOST_FN std::uint32_t words() const { return regions << region_shift; }
  // Returns the number of positions of a walk over regions. positions_in_words() is for walks over single words.
  SIMT_HOST_FN std::uint32_t positions() const { return words() * 32; }
  SIMT_HOST_FN std::uint32_t positions_in_words() const { return words_with_pages * 32; }

  // Returns a word of the region that contains `position`, for the group's member of this rank. Members get different
  // words as long as the region has enough. If positions are uniform, every word is equally likely for each member.
  SIMT_FN std::uint32_t word_of_member(std::uint32_t position, std::uint32_t rank) const {
    const std::uint32_t word = position / 32;
    const std::uint32_t in_region = (1u << region_shift) - 1;
    return (word & ~in_region) | ((word + rank) & in_region);
  }
};

// Returns the bits of word `word` beyond the last page.
SIMT_HOST_FN std::uint32_t surplus_bits(std::uint32_t word, std::uint32_t pages) {
  const std::uint32_t first = word * 32;
  if (first >= pages) return full_word;
  return pages - first >= 32 ? 0 : full_word << (pages - first);
}

// Writes words `first` to `end` - 1. Each page for which used(page) is true becomes a block of one page, and the other
// pages are free. A `Word` of 64 bits has two bits per page (run_word.hpp).
struct WriteWords {
  template <class Thread, class Word, class Used>
  SIMT_FN void operator()(Thread& thread, Word* words, std::uint32_t first, std::uint32_t end, std::uint32_t pages,
                          Used used) const {
    for (std::uint32_t i = first + thread.rank_in_grid(); i < end; i += thread.grid_size()) {
      Word bits = surplus_bits(i, pages);
      for (std::uint32_t page = i * 32; page < i * 32 + 32 && page < pages; ++page) {
        if (used(page)) bits |= Word{1} << (page % 32);
      }
      if constexpr (sizeof(Word) == 8) bits |= bits << 32;
      thread.atomic(words[i]).store(bits, simt::relaxed);
    }
  }
};

template <class Word, class Used>
void write_words(simt::Stream& stream, Word* words, const WordGrid& grid, std::uint32_t pages, const Used& used) {
  constexpr std::uint32_t threads = 128;
  const std::uint32_t blocks = std::min((grid.words() - 1) / threads + 1, 4096u);
  simt::launch(stream, {blocks, threads}, WriteWords{}, words, 0u, grid.words(), pages, used);
}

struct NoPage {
  SIMT_HOST_FN bool operator()(std::uint32_t) const { return false; }
};
struct EveryPage {
  SIMT_HOST_FN bool operator()(std::uint32_t) const { return true; }
};

// Makes all pages free.
template <class Word>
void clear_words(simt::Stream& stream, Word* words, const WordGrid& grid, std::uint32_t pages) {
  const std::uint32_t last_region = (grid.regions - 1) << grid.region_shift;
  simt::device_fill(stream, words, 0, last_region * sizeof *words);
  simt::launch(stream, {1, 1u << grid.region_shift}, WriteWords{}, words, last_region, grid.words(), pages, NoPage{});
}

// PageBitmap is the bitmap of a pool. Walks load one `Word` at a time.
template <Locking locking, class Word = std::uint32_t>
struct PageBitmap {
  static constexpr std::uint32_t word_bits = 8 * sizeof(Word);
  static constexpr Word full = ~Word{0};
  static_assert(locking == Locking::lock_map || word_bits == 32, "walks over regions are over words of 32 bits");

  PageArray pages;
  WordGrid grid;
  Word* words = nullptr;
  std::uint32_t* locks = nullptr;      // one bit per word; only with the lock map
  std::uint32_t most_word_probes = 0;  // vain probes in a row after which the walk of a group ends
  std::uint32_t most_walk_probes = 0;  // vain probes of single words in a row after which walk() ends
  std::uint32_t seed = 0;

  static PageBitmap create(Arena& arena, const PageParameters& parameters, std::string_view name) {
    PageBitmap bitmap;
    bitmap.pages = PageArray::of_arena(arena, parameters.page_bytes, name);
    bitmap.grid = WordGrid::of_pages(bitmap.pages.count, word_bits / 64);
    bitmap.words = arena.metadata<Word>(bitmap.word_count());
    if constexpr (locking == Locking::lock_map) bitmap.locks = arena.metadata<std::uint32_t>(bitmap.lock_words());
    bitmap.most_word_probes = vain_word_probes(parameters.scarce_share, bitmap.word_count(), word_bits);
    // If the free pages fill whole words, a word gives no more information than a page, and full words in a row prove
    // little. So without locks, the limit is that of RW for as many pages as there are words.
    bitmap.most_walk_probes = locking == Locking::lock_map ? bitmap.most_word_probes
                                                           : vain_probes(parameters.scarce_share, bitmap.grid.words());
    bitmap.seed = parameters.seed;
    bitmap.reset(arena.stream());
    return bitmap;
  }

  void reset(simt::Stream& stream) const {
    clear_words(stream, words_of_32(), grid, pages.count);
    if constexpr (locking == Locking::lock_map) simt::device_fill(stream, locks, 0, lock_words() * sizeof *locks);
  }

  template <class Used>
  void occupy(simt::Stream& stream, const Used& used) const {
    write_words(stream, words_of_32(), grid, pages.count, used);
  }

  std::uint32_t* words_of_32() const { return reinterpret_cast<std::uint32_t*>(words); }
  std::uint32_t word_count() const { return grid.words() / (word_bits / 32); }
  std::uint32_t lock_words() const { return (word_count() - 1) / 32 + 1; }
  // Returns the number of positions of a walk over single words.
  SIMT_HOST_FN std::uint32_t positions_in_words() const {
    if constexpr (word_bits == 32) return grid.positions_in_words();
    return (grid.words_with_pages + 1) / 2 * word_bits;
  }

  // Tries the lock of a word once. Returns true to the thread that owns the word from now on.
  template <class Thread>
  SIMT_FN bool try_lock(Thread& thread, std::uint32_t word) const {
    const std::uint32_t bit = 1u << (word % 32);
    return (thread.atomic(locks[word / 32]).fetch_or(bit, simt::acquire) & bit) == 0;
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t word) const {
    thread.atomic(locks[word / 32]).fetch_and(~(1u << (word % 32)), simt::release);
  }

  // Tries to take the lowest page that is free in `seen`, an earlier value of the word with a free page. Returns the
  // page, or no_page if another thread has taken it. Sets `seen` to the present word.
  template <class Thread>
  SIMT_FN std::uint32_t take_lowest(Thread& thread, std::uint32_t word, Word& seen) const {
    const std::uint32_t index = simt::count_trailing_zeros(~seen);
    const Word bit = Word{1} << index;
    const Word before = thread.atomic(words[word]).fetch_or(bit, simt::acquire);
    seen = before | bit;
    return (before & bit) == 0 ? word * word_bits + index : no_page;
  }

  // Makes one step of a walk. Takes a free page of the word that contains `position`, and returns it, or no_page. With
  // `at_once` and without locks, the first attempt is for the page at this position, without a load before. Sets
  // `counts` to false if another thread had locked the word, and otherwise to true.
  template <class Thread>
  SIMT_FN std::uint32_t probe(Thread& thread, std::uint32_t position, bool at_once, bool& counts) const {
    thread.probe(simt::Step::attempt);
    const std::uint32_t word = position / word_bits;
    std::uint32_t page = no_page;
    if constexpr (locking == Locking::lock_map) {
      counts = try_lock(thread, word);
      if (!counts) return no_page;
      Word seen = thread.atomic(words[word]).load(simt::relaxed);
      if (seen != full) page = take_lowest(thread, word, seen);
      unlock(thread, word);
    } else {
      counts = true;
      std::uint32_t seen;
      if (at_once) {
        const std::uint32_t bit = 1u << (position % 32);
        seen = thread.atomic(words[word]).fetch_or(bit, simt::acquire);
        if ((seen & bit) == 0) return position;
      } else {
        seen = thread.atomic(words[word]).load(simt::relaxed);
      }
      for (std::uint32_t tries = 0; seen != full_word && tries < 32; ++tries) {
        page = take_lowest(thread, word, seen);
        if (page != no_page) return page;
        thread.probe(simt::Step::retry);
      }
    }
    return page;
  }

  // Probes random words until one has a page or the walk gives up (RW-BM). `at_once` applies to the first probe (see
  // probe()).
  template <class Thread>
  SIMT_FN std::uint32_t walk(Thread& thread, bool at_once) const {
    Walk walk(thread, seed);
    for (std::uint32_t vain = 0; vain < most_walk_probes;) {
      bool counts;
      const std::uint32_t page = probe(thread, walk.next(positions_in_words()), at_once, counts);
      if (page != no_page) return page;
      if (counts) {
        ++vain;
      } else {
        thread.spin_hint();
      }
      at_once = false;
    }
    return no_page;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) const {
    if (block == nullptr) return;
    const std::uint32_t page = pages.page_of(block);
    thread.atomic(words[page / word_bits]).fetch_and(~(Word{1} << (page % word_bits)), simt::release);
  }

  // Checks the bitmap on the host while no kernel runs. Returns an empty text if no invariant is broken.
  std::string broken_invariant(simt::Stream& stream) const {
    std::vector<std::uint32_t> image(grid.words());
    simt::copy_to_host(stream, image.data(), words, image.size() * sizeof image[0]);
    for (std::uint32_t word = 0; word < image.size(); ++word) {
      if ((surplus_bits(word, pages.count) & ~image[word]) != 0) {
        return "word " + std::to_string(word) + " offers pages beyond the end of the pool";
      }
    }
    if constexpr (locking == Locking::lock_map) {
      std::vector<std::uint32_t> held(lock_words());
      simt::copy_to_host(stream, held.data(), locks, held.size() * sizeof held[0]);
      for (std::uint32_t i = 0; i < held.size(); ++i) {
        if (held[i] != 0) return "words " + std::to_string(32 * i) + " and up: a lock is still held";
      }
    }
    return {};
  }
};

}  // namespace allocbench::random_walk
