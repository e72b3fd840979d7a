// ScatterAlloc as published: requests are scattered over pages by a hash of their size and of the place where they run.
//
// Paper: Steinberger, Kenzel, Kainz & Schmalstieg, ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the
// GPU, InPar 2012. The text was not available to us. Where the paper leaves gaps, this form follows the authors' public
// code, version 1.0, with its defaults. Page reset is on, as in that code's host wrapper. Idea:
//   malloc  hashes size, SM and warp slot to a page (hash.hpp) and walks on from there. A page whose chunk size is
//           acceptable, or that the lane formats, is used by one addition to its count and one OR per try for a bit.
//           Regions of 16 pages have a counter that lets walks skip them. Walks start in one of eight access blocks
//           (published_heap.hpp).
//   a page and more: consecutive pages, one lane at a time under one lock (page_runs.hpp).
//   free    clears the bit and lowers the count. The last to leave a page makes it unformatted (page reset).
//   coalescing  lanes of a warp that ask for less than 1/32 page share one chunk: 4 bytes that count the members, then
//           the members from byte 16 on. Each member that is freed lowers the count; the last one frees the chunk.
// Data: in the pool the pages, then 12 bytes per page (usage_table.hpp), then the counters of the regions. Outside: the
// access block in use, the lock and the hint of the runs.
//
// Differs from the paper and its code:
//   * Memory orders (usage_table.hpp).
//   * A search for a bit ends after 32 tries; a request that finds nothing in two passes is refused, as published.
//   * Coalescing takes its sum and its offsets from shuffles over the lanes that come together, and the lowest lane
//     allocates. In the public code the first lane that adds to a counter per warp in shared memory allocates. The
//     hardware's warp number selects the counter, which overflows on GPUs with more than 32 warps per SM.
//   * At most 32 segments and 1024 chunks per page: published with page_bytes of 32 KiB and more, bits beyond the word.
//   * The bits of two-level pages lie at the end of the page instead of behind the last chunk, so that a reset knows
//     where they are (mallocMC 2.1).
//   * Pools of less than eight regions have fewer access blocks. Pages that are left over belong to the last one.
//   * A request for zero bytes is refused.
// As published, and wrong or slow:
//   * Requests of exactly one page are runs, but their chunk size looks acceptable to requests of half a page and more:
//     two owners get the same page (docs/findings.md). Never where all requests are below a page or all are above.
//   * A segment that is marked full too late keeps its mark when the page changes its format: a chunk is lost.
//   * Page and more: one lock for all. Half a page and more: one chunk per page and long walks.
//   * Walks start in an access block until one of them has gone through the next block from end to end. So a fill uses
//     up both blocks first, and pass 1 reads the counters of about an eighth of all regions per request. What pass 1
//     leaves behind is found by pass 2, which tries all pages from the first one on.
// The reworked form and the benefit of each change: scatteralloc_reworked.hpp.
#pragma once

#include "allocators/scatteralloc/published_heap.hpp"

namespace allocbench {

struct ScatterAlloc : scatteralloc::PublishedHeap<scatteralloc::Coalescing::on, scatteralloc::PageReset::on> {
  static constexpr Traits traits{.name = "scatteralloc",
                                 .display_name = "ScatterAlloc",
                                 .paper = "Steinberger et al. 2012",
                                 .summary =
                                     "pages found by a hash of size, SM and warp, then by a walk of each lane; page "
                                     "reset; small requests of a warp share a chunk",
                                 .form = Form::published,
                                 .zero = ZeroBytes::null};
  static ScatterAlloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct ScatterAllocNoReset : scatteralloc::PublishedHeap<scatteralloc::Coalescing::on, scatteralloc::PageReset::off> {
  static constexpr Traits traits{.name = "scatteralloc_no_reset",
                                 .display_name = "ScatterAlloc, no page reset",
                                 .paper = "Steinberger et al. 2012; Winter et al. 2021",
                                 .summary = "a page keeps its first chunk size forever: what the 2021 survey measured",
                                 .form = Form::ablation,
                                 .based_on = "scatteralloc",
                                 .zero = ZeroBytes::null};
  static ScatterAllocNoReset create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct ScatterAllocNoCoalescing
    : scatteralloc::PublishedHeap<scatteralloc::Coalescing::off, scatteralloc::PageReset::on> {
  static constexpr Traits traits{.name = "scatteralloc_no_coalescing",
                                 .display_name = "ScatterAlloc, no coalescing",
                                 .paper = "Steinberger et al. 2012; Vinkler & Havran 2015, kd-tree",
                                 .summary = "every request takes a chunk of its own",
                                 .form = Form::ablation,
                                 .based_on = "scatteralloc",
                                 .zero = ZeroBytes::null};
  static ScatterAllocNoCoalescing create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(scatteralloc, ScatterAlloc, ScatterAllocNoReset, ScatterAllocNoCoalescing)
