// These functions check the invariants of an access block of FlatterScatter while no kernel runs.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "allocators/flatter_scatter/access_block.hpp"

namespace allocbench::flatter_scatter {

// Checks that the filling of each page is the number of its chunks in use, and that the pages of a multi-page block are
// locked. Returns an empty text if this is true, otherwise the fault of the first broken page.
inline std::string broken_page(simt::Stream& stream, const AccessBlock& block) {
  std::vector<PageEntry> entries(block.pages);
  const std::size_t page_bytes = block.layout.bytes();
  simt::copy_to_host(stream, entries.data(), block.base + block.pages * page_bytes, entries.size() * sizeof entries[0]);
  for (std::uint32_t page = 0; page < block.pages; ++page) {
    const PageEntry& entry = entries[page];
    const std::string name = "page " + std::to_string(page);
    if (entry.chunk_bytes >= block.layout.multi_page_from()) {
      if (entry.filling != page_bytes) return name + " is part of a block of several pages, but not locked";
      continue;
    }
    if (entry.chunk_bytes == 0) {
      if (entry.filling != 0) return name + " is nobody's, but counts " + std::to_string(entry.filling);
      continue;
    }
    const std::uint32_t chunks = block.layout.chunks(entry.chunk_bytes);
    std::vector<std::uint32_t> bits(PageLayout::words(chunks));
    const std::byte* const end = block.base + (page + std::size_t{1}) * page_bytes;
    simt::copy_to_host(stream, bits.data(), end - bits.size() * sizeof bits[0], bits.size() * sizeof bits[0]);
    std::uint32_t used = 0;
    for (const std::uint32_t word : bits) used += static_cast<std::uint32_t>(std::popcount(word));
    if (used != entry.filling) {
      return name + " counts " + std::to_string(entry.filling) + " chunks, but " + std::to_string(used) +
             " bits are set";
    }
  }
  return {};
}

}  // namespace allocbench::flatter_scatter
