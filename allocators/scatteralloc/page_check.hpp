// These functions check the page table on the host while no kernel runs.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "allocators/scatteralloc/page_table.hpp"

namespace allocbench::scatteralloc {

// Returns the mistake in a page's entry, or an empty text if there is none. `tail` is the last 128 bytes of the page,
// or null if they were not copied. Without them, the bits of a two-level page are not checked.
template <class Table>
std::string broken_entry(const Table& table, std::uint64_t word, const std::byte* tail, bool after_run_page) {
  const std::uint32_t units = Entry::units(word);
  if (units == Entry::formatting) return "is still being formatted";
  if (units == Entry::run_rest && !after_run_page) return "continues a run that nothing starts";
  if (!Entry::holds_chunks(word)) return word << 12 == 0 ? "" : "holds no chunks, but claims";
  const std::uint32_t chunk = units << table.format.unit_shift;
  if (chunk > table.format.page_bytes()) return "has chunks larger than the page";
  if (table.format.flat(chunk)) {
    if (Entry::count(word) != 0) return "is flat, but has reservations";
    return (Entry::bits(word) & ~low_bits(table.format.flat_chunks(chunk))) == 0 ? "" : "uses chunks it does not have";
  }
  if (Entry::bits(word) != 0) return "is two-level, but has bits in its entry";
  if (tail == nullptr) return {};
  const Segments segments = table.format.segments(chunk);
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, tail + 128 - 4 * (i + 1), sizeof bits);
    if ((bits & ~low_bits(segments.chunks_of(i))) != 0) return "uses chunks it does not have";
    used += simt::popcount(bits);
  }
  if (used != Entry::count(word)) {
    return "counts " + std::to_string(Entry::count(word)) + " chunks, but " + std::to_string(used) + " bits are set";
  }
  return {};
}

// Copies the page table and, for pools up to 64 MiB, the pages. Returns a text that names the first broken page, or an
// empty text.
template <class Table>
std::string broken_page(const Table& table, simt::Stream& stream) {
  constexpr std::size_t most_copied = std::size_t{64} << 20;
  std::vector<std::uint64_t> words(table.pages);
  simt::copy_to_host(stream, words.data(), table.entries, words.size() * sizeof words[0]);
  const std::size_t bytes = std::size_t{table.pages} << table.format.page_shift;
  std::vector<std::byte> image(bytes <= most_copied ? bytes : 0);
  if (!image.empty()) simt::copy_to_host(stream, image.data(), table.base, image.size());
  bool after_run_page = false;
  for (std::uint32_t page = 0; page < table.pages; ++page) {
    const std::byte* tail =
        image.empty() ? nullptr : image.data() + ((std::size_t{page} + 1) << table.format.page_shift) - 128;
    const std::string problem = broken_entry(table, words[page], tail, after_run_page);
    if (!problem.empty()) return "page " + std::to_string(page) + " " + problem;
    const std::uint32_t units = Entry::units(words[page]);
    after_run_page = units == Entry::run_first || units == Entry::run_rest;
  }
  return {};
}

}  // namespace allocbench::scatteralloc
