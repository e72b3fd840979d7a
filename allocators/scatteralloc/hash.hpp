// This hash selects the page where a search begins, in all forms of ScatterAlloc and in FlatterScatter.
//
// Steinberger et al. 2012; constants of the authors' public code, version 1.0:
//   page = s * 38183 + 17497 * SM + (1 + 32 s / page bytes) * warp slot, modulo the pages of an access block
//
// s is the chunk size. For equal sizes, neighbouring warps of one SM start one page apart, or more if 32 chunks fill at
// least a page. SM and warp slot are hardware ids.
#pragma once

#include "allocators/support/common/modulo.hpp"
#include "simt/simt.hpp"

namespace allocbench::scatteralloc {

// Returns the hash before the modulo.
template <class Thread>
SIMT_FN std::uint32_t scatter_hash(Thread& thread, std::uint32_t chunk, std::uint32_t page_shift) {
  const std::uint32_t warp_distance = 1 + (chunk << 5 >> page_shift);
  return chunk * 38183u + 17497u * thread.sm() + warp_distance * thread.warp_slot();
}

template <class Thread>
SIMT_FN std::uint32_t hashed_page(Thread& thread, std::uint32_t chunk, std::uint32_t page_shift,
                                  const Modulo& pages_per_block) {
  return pages_per_block(scatter_hash(thread, chunk, page_shift));
}

}  // namespace allocbench::scatteralloc
