// PreSplit is the initial division of the pool: one or several binary heaps of chunks, laid out level by level.
//
// Paper: Vinkler & Havran 2015, section 4.2 (equation 1, figure 2) and section 4.4 for several heaps. Level d of a heap
// holds 2^d chunks of root / 2^d granules, so every level takes exactly `root` granules. The rest of the pool is one
// last chunk. Each heap is fitted into an equal share of the pool, with a root that is a power of two times the
// smallest chunk. (The paper's root R' = R / #SM is in general not such a multiple.)
#pragma once

#include "simt/simt.hpp"

namespace allocbench::circular {

struct PreSplit {
  std::uint32_t heaps = 1;
  std::uint32_t levels = 0;    // number of levels of every heap; 0 if the pool is too small for a heap
  std::uint32_t root = 0;      // granules of the largest chunk of a heap
  std::uint32_t granules = 0;  // granules of the whole pool, and index of the end marker

  // Returns the largest heaps that leave at least one granule for the last chunk. `smallest` is a power of two: the
  // size of the smallest chunk in granules.
  static PreSplit fit(std::uint32_t granules, std::uint32_t heaps, std::uint32_t smallest) {
    PreSplit split;
    split.heaps = heaps;
    split.granules = granules;
    const std::uint64_t share = (std::uint64_t{granules} - 1) / heaps;
    for (std::uint32_t levels = 1; levels < 32; ++levels) {
      const std::uint64_t root = std::uint64_t{smallest} << (levels - 1);
      if (levels * root > share) break;
      split.levels = levels;
      split.root = static_cast<std::uint32_t>(root);
    }
    return split;
  }

  SIMT_HOST_FN std::uint32_t heap_granules() const { return levels * root; }
  SIMT_HOST_FN std::uint32_t chunks_per_heap() const { return levels == 0 ? 0 : (1u << levels) - 1; }
  // Returns the number of headers: the chunks of all heaps, the last chunk and the end marker.
  SIMT_HOST_FN std::uint32_t headers() const { return heaps * chunks_per_heap() + 2; }
  SIMT_HOST_FN std::uint32_t last_chunk() const { return heaps * heap_granules(); }

  // Returns the first granule of node `node` (breadth-first, from 0) of heap `heap`.
  SIMT_HOST_FN std::uint32_t chunk(std::uint32_t heap, std::uint32_t node) const {
    const std::uint32_t depth = 31 - simt::count_leading_zeros(node + 1);
    const std::uint32_t index_in_level = node + 1 - (1u << depth);
    return heap * heap_granules() + depth * root + index_in_level * (root >> depth);
  }
  // Returns `chunk`, or the first chunk behind its heap if the chunks of its level have fewer than `need` granules. The
  // following levels have even smaller chunks.
  SIMT_HOST_FN std::uint32_t past_small_chunks(std::uint32_t chunk, std::uint32_t need) const {
    if (chunk >= last_chunk()) return chunk;
    const std::uint32_t heap = heaps == 1 ? 0 : chunk / heap_granules();
    const std::uint32_t level = (chunk - heap * heap_granules()) / root;
    return root >> level < need ? (heap + 1) * heap_granules() : chunk;
  }
  // Selects one of the next `reach` nodes behind `chunk` that have at least `least` granules and lie in the same heap.
  // `drawn` / 2^32 is its place among them. Returns its first granule, or `chunk` if there is no such node.
  SIMT_HOST_FN std::uint32_t further_on(std::uint32_t chunk, std::uint32_t drawn, std::uint32_t reach,
                                        std::uint32_t least) const {
    if (chunk >= last_chunk() || least > root) return chunk;
    const std::uint32_t heap = heaps == 1 ? 0 : chunk / heap_granules();
    const std::uint32_t in_heap = chunk - heap * heap_granules();
    const std::uint32_t level = in_heap / root;
    const std::uint32_t node = (1u << level) - 1 + (in_heap - level * root) / (root >> level);
    // The first `large_levels` levels have chunks of `least` granules or more.
    const std::uint32_t large_levels = 32 - simt::count_leading_zeros(root / least);
    const std::uint32_t nodes = (1u << (large_levels < levels ? large_levels : levels)) - 1;
    if (node + 1 >= nodes) return chunk;
    const std::uint32_t within = reach < nodes - 1 - node ? reach : nodes - 1 - node;
    return this->chunk(heap, node + 1 + simt::multiply_high(drawn, within));
  }
  SIMT_HOST_FN std::uint32_t chunk_size(std::uint32_t node) const {
    return root >> (31 - simt::count_leading_zeros(node + 1));
  }
};

}  // namespace allocbench::circular
