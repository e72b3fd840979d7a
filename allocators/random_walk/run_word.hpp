// run_word keeps the state of 32 consecutive pages in one 64-bit word: which pages are used, and where runs begin and
// end.
//
// Page i has two bits: bit i of the high half and bit i of the low half. In this order, 00 means a free page, and 01
// means a page that continues a run. The first page of a run has 11, or 10 if several lanes share the run.
//
// So one compare-exchange takes a run with its length, and free() reads the length from the same word: a run ends in
// front of the next page that does not continue a run. The bits of a run do not change while the run is in use. Runs
// lie within one word.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::random_walk {

struct PageRun {
  std::uint32_t first = 0;  // number of the first page in the word
  std::uint32_t pages = 0;
  bool shared = false;
};

namespace run_word {

inline constexpr std::uint32_t most_pages = 32;

SIMT_HOST_FN std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
SIMT_HOST_FN std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

// Returns the pages of a run as bits. Requires 1 <= pages <= 32.
SIMT_HOST_FN std::uint32_t page_bits(std::uint32_t first, std::uint32_t pages) {
  return 0xffffffffu >> (32 - pages) << first;
}
SIMT_HOST_FN std::uint32_t page_bits(const PageRun& run) { return page_bits(run.first, run.pages); }

// Returns the bits that are set when the run is taken. bits_to_clear() returns the bits that a free clears.
SIMT_HOST_FN std::uint64_t bits_of(const PageRun& run) {
  const std::uint32_t first = 1u << run.first;
  const std::uint32_t rest = page_bits(run) & ~first;
  return std::uint64_t{first} << 32 | (run.shared ? rest : rest | first);
}
SIMT_HOST_FN std::uint64_t bits_to_clear(const PageRun& run) {
  const std::uint64_t bits = page_bits(run);
  return bits << 32 | bits;
}

// Returns the pages at which a run of this many free pages begins, as bits. Requires 1 <= pages <= 32.
SIMT_HOST_FN std::uint32_t starts_of_free_runs(std::uint64_t word, std::uint32_t pages) {
  std::uint32_t starts = ~(low(word) | high(word));
  // After each round, a set bit means that this page and the next `length` - 1 pages are free.
  for (std::uint32_t length = 1; length < pages;) {
    const std::uint32_t step = length < pages - length ? length : pages - length;
    starts &= starts >> step;
    length += step;
  }
  return starts;
}

// Returns the run that contains a page, which must be in use.
SIMT_HOST_FN PageRun run_at(std::uint64_t word, std::uint32_t page) {
  const std::uint32_t first = 31 - simt::count_leading_zeros(high(word) & (0xffffffffu >> (31 - page)));
  const std::uint32_t continued = low(word) & ~high(word);
  const std::uint32_t rest = simt::count_trailing_zeros(~(static_cast<std::uint32_t>(continued >> first) >> 1));
  return {first, 1 + rest, (low(word) >> first & 1) == 0};
}

}  // namespace run_word
}  // namespace allocbench::random_walk
