// These functions check the page usage table on the host while no kernel runs.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "allocators/scatteralloc/usage_table.hpp"

namespace allocbench::scatteralloc {

// Returns the mistake in a page, or an empty text if there is none. `page_end` is one past the last byte of the page's
// image, or null if the page was not copied.
template <class Table>
std::string broken_usage(const Table& table, const PageUsage& usage, const std::byte* page_end) {
  if (usage.chunk_bytes == 0 || usage.chunk_bytes >= table.format.page_bytes()) {
    return usage.count == 0 ? "" : "has no chunks, but counts " + std::to_string(usage.count) + " in use";
  }
  const std::uint32_t chunks = table.format.chunks(usage.chunk_bytes);
  if (usage.count > chunks) return "counts more chunks in use than it has";
  std::uint32_t used = 0;
  if (table.format.flat(usage.chunk_bytes)) {
    // Bits that mark full segments may be left from the format before. Then chunks are lost, but none has two owners.
    used = simt::popcount(usage.bits & low_bits(chunks));
    return used >= usage.count ? "" : "counts chunks in use that have no bit";
  }
  if (page_end == nullptr) return {};
  const Segments segments = table.format.segments(usage.chunk_bytes);
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, page_end - 4 * (i + 1), sizeof bits);
    if ((bits & ~low_bits(segments.chunks_of(i))) != 0) return "uses chunks it does not have";
    used += simt::popcount(bits);
  }
  if (used == usage.count) return {};
  return "counts " + std::to_string(usage.count) + " chunks, but " + std::to_string(used) + " bits are set";
}

// Copies the table and, for pools up to 64 MiB, the pages. Returns a text that names the first broken page, or an empty
// text.
template <class Table>
std::string broken_page_usage(const Table& table, simt::Stream& stream) {
  constexpr std::size_t most_copied = std::size_t{64} << 20;
  std::vector<PageUsage> usage(table.pages);
  simt::copy_to_host(stream, usage.data(), table.usage, usage.size() * sizeof usage[0]);
  const std::size_t bytes = std::size_t{table.pages} << table.format.page_shift;
  std::vector<std::byte> image(bytes <= most_copied ? bytes : 0);
  if (!image.empty()) simt::copy_to_host(stream, image.data(), table.base, image.size());
  for (std::uint32_t page = 0; page < table.pages; ++page) {
    const std::byte* end =
        image.empty() ? nullptr : image.data() + ((std::size_t{page} + 1) << table.format.page_shift);
    const std::string problem = broken_usage(table, usage[page], end);
    if (!problem.empty()) return "page " + std::to_string(page) + " " + problem;
  }
  return {};
}

}  // namespace allocbench::scatteralloc
