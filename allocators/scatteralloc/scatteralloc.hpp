// ScatterAlloc as published scatters requests over pages by a hash of their size and of the place where they run.
//
// Paper: Steinberger, Kenzel, Kainz & Schmalstieg, ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the
// GPU, InPar 2012. We do not have the paper's text. This form follows the authors' public code, version 1.0, with its
// defaults. Page reset is on, as in the host wrapper of this code.
//
// Idea:
// * malloc: Size, SM and warp slot are hashed to a page (hash.hpp), and the lane walks on from this page. The lane uses
//   a page whose chunk size is acceptable, or formats a page. This takes one addition to the page's count and one OR
//   per try for a bit. Regions of 16 pages have a counter, by which walks skip them. Walks start in one of eight access
//   blocks (published_heap.hpp).
// * malloc of a page and more: The request gets consecutive pages, one lane at a time under one lock (page_runs.hpp).
// * free: A lane clears the bit and lowers the count. If this empties the page, the lane makes it unformatted (page
//   reset).
// * coalescing: If several lanes that come together request less than 1/32 page each, they share one chunk. The first 4
//   bytes of this chunk count the members, whose parts begin at byte 16. Each member that is freed lowers the count,
//   and the last one frees the chunk.
//
// Data: The pool contains the pages, then 12 bytes per page (usage_table.hpp), then the counters of the regions. The
// number of the access block in use, and the lock and the hint of the runs, lie outside the pool.
//
// Differs from the paper and its code:
// * We chose the memory orders (usage_table.hpp).
// * A search for a bit in one word ends after 32 tries. As in the public code, a request gets null if two passes over
//   the pages find no chunk.
// * Coalescing takes its sum and its offsets from shuffles over the lanes that come together, and the lowest lane
//   allocates. In the public code, the lanes add to a counter per warp in shared memory, and the lane that adds first
//   allocates. The hardware's warp number selects the counter. The counters are too few for GPUs with more than 32
//   warps per SM.
// * A page has at most 32 segments and 1024 chunks. In the public code, pages of 32 KiB and more have bits beyond the
//   word.
// * The bits of two-level pages lie at the end of the page instead of behind the last chunk, so that a reset knows
//   their place (as in mallocMC 2.1).
// * Pools of fewer than eight regions have fewer access blocks. The last block also has the remaining pages.
// * A request for zero bytes is refused.
//
// As published, and wrong or slow:
// * A run of exactly one page stores its size where other pages store the size of their chunks. So requests of half a
//   page and more take it for a page with suitable chunks, and two owners get the same page (docs/findings.md). This
//   cannot happen if all requests are smaller than a page, or if none is.
// * A segment that is marked full too late keeps its mark when the page changes its format, so a chunk is lost.
// * Requests of a page and more share one lock. Requests above half a page get one chunk per page and walk far.
// * Walks start in one access block until one of them has gone through the next block from end to end. So a fill uses
//   up both blocks first, and pass 1 reads the counters of about an eighth of all regions per request. Pass 2 tries all
//   pages, beginning with the first, and finds what pass 1 leaves behind.
//
// scatteralloc_reworked.hpp describes the reworked form and the benefit of each change.
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
