// The state of 32 consecutive pages in one 64-bit word: which are used, and where runs begin and end.
//
// Two bits per page, one in each half of the word (bit i low, bit i high):
//
//   00 free   10 continues a run   11 first page of a run   01 first page of a run that several lanes share
//
// So one compare-exchange takes a run with its length, and free() reads the length from the same word: a run ends in
// front of the next page that does not continue one. The bits of a run do not change while it is owned. Runs lie within
// one word.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::random_walk {

struct PageRun {
  std::uint32_t first = 0;  // page in the word
  std::uint32_t pages = 0;
  bool shared = false;
};

namespace run_word {

inline constexpr std::uint32_t most_pages = 32;

SIMT_HOST_FN std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
SIMT_HOST_FN std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

// The pages of a run as bits. 1 <= pages <= 32.
SIMT_HOST_FN std::uint32_t page_bits(std::uint32_t first, std::uint32_t pages) {
  return 0xffffffffu >> (32 - pages) << first;
}
SIMT_HOST_FN std::uint32_t page_bits(const PageRun& run) { return page_bits(run.first, run.pages); }

// The bits that taking the run ORs into the word, and that freeing it clears.
SIMT_HOST_FN std::uint64_t bits_of(const PageRun& run) {
  const std::uint32_t first = 1u << run.first;
  const std::uint32_t rest = page_bits(run) & ~first;
  return std::uint64_t{first} << 32 | (run.shared ? rest : rest | first);
}
SIMT_HOST_FN std::uint64_t bits_to_clear(const PageRun& run) {
  const std::uint64_t bits = page_bits(run);
  return bits << 32 | bits;
}

// Pages at which a run of this many free pages begins, as bits. 1 <= pages <= 32.
SIMT_HOST_FN std::uint32_t starts_of_free_runs(std::uint64_t word, std::uint32_t pages) {
  std::uint32_t starts = ~(low(word) | high(word));
  // After each round a set bit means that `length` pages from here on are free.
  for (std::uint32_t length = 1; length < pages;) {
    const std::uint32_t step = length < pages - length ? length : pages - length;
    starts &= starts >> step;
    length += step;
  }
  return starts;
}

// The run that holds a page.
SIMT_HOST_FN PageRun run_at(std::uint64_t word, std::uint32_t page) {
  const std::uint32_t first = 31 - simt::count_leading_zeros(high(word) & (0xffffffffu >> (31 - page)));
  const std::uint32_t continued = low(word) & ~high(word);
  const std::uint32_t rest = simt::count_trailing_zeros(~(static_cast<std::uint32_t>(continued >> first) >> 1));
  return {first, 1 + rest, (low(word) >> first & 1) == 0};
}

}  // namespace run_word
}  // namespace allocbench::random_walk
