// PageLayout divides a page of FlatterScatter. It is pure arithmetic, the same on the host and in kernels.
//
// Source: mallocMC 3, FlatterScatter/PageInterpretation.hpp. Chunks of one size start at the front of the page. Words
// with one bit per chunk lie at the end of the page. The smallest chunks need the most words, and these words cover
// those of all other sizes.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::flatter_scatter {

struct PageLayout {
  static constexpr std::uint32_t smallest_chunk = 16;

  std::uint32_t bytes_log2 = 17;

  SIMT_HOST_FN std::uint32_t bytes() const { return 1u << bytes_log2; }
  // Returns the least size of requests that get whole pages. Two chunks above this size and a word do not fit a page.
  SIMT_HOST_FN std::uint32_t multi_page_from() const { return (bytes() - 4) / 2; }

  SIMT_HOST_FN std::uint32_t chunks(std::uint32_t chunk) const {
    const std::uint32_t chunks_and_word = 32 * chunk + 4;
    const std::uint32_t full = bytes() / chunks_and_word;
    const std::uint32_t rest = bytes() - full * chunks_and_word;
    return full * 32 + (rest > 4 ? (rest - 4) / chunk : 0);
  }
  SIMT_HOST_FN static std::uint32_t words(std::uint32_t chunks) { return (chunks + 31) / 32; }
  SIMT_HOST_FN std::uint32_t most_words() const { return words(chunks(smallest_chunk)); }
};

}  // namespace allocbench::flatter_scatter
