// In the reworked form of ScatterAlloc, a hash scatters requests over pages, and the lanes of a warp search together.
//
// Paper: Steinberger, Kenzel, Kainz & Schmalstieg, ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the
// GPU, InPar 2012; constants of the authors' public code, version 1.0. Idea and published form: scatteralloc.hpp.
//
// Data: page table and its protocol (page_table.hpp), page formats (page_format.hpp), hash, regions and access blocks
// (hash.hpp, search.hpp), runs of pages (multi_page.hpp), malloc and free over them (scatter_heap.hpp). The bits of a
// two-level page lie on that page. All other metadata lies outside the pool.
//
// Reworked, with the benefit of each change:
// * One 64-bit word has the chunk size, count and bits of a page. The published form has three words. On a page of the
//   right format, a claim is one OR (flat), or one ADD and one OR per chunk (two-level), instead of load, add, check
//   and OR. So there are fewer dependent trips to memory, and a page cannot be recycled under a claim.
// * The lanes that use the same page claim it by one operation. If a page has fewer chunks than lanes, they spread over
//   consecutive pages. So fewer additions meet on one count.
// * Warps that share a page usually begin at different chunks: at a bit that depends on the warp, or at the number of
//   chunks reserved so far. If all began with the first chunk, a lone lane would lose its first try whenever this chunk
//   is in use.
// * After the random places, a walk checks two pages per lane at a time (search.hpp). So requests above half a page,
//   and searches in a nearly full pool, do not go page by page.
// * A request of exactly one page is a chunk. Longer requests hold no lock unless they must scan (multi_page.hpp). A
//   run is marked as a run, so no chunk is given out of it.
// * `access_blocks` is 1 by default (published: 8), because a load of the number of the block in use would be a second
//   trip to memory before every claim.
// * Members that cannot get a chunk together try alone, so coalescing causes no null. Requests for zero bytes get a
//   block.
//
// This form has a disadvantage: On sm_90, malloc has 45 registers (published form: 40) and more than twice as many
// instructions, although it makes about half as many operations on shared words. So fewer warps are resident.
//
// Winter et al. 2021 measured sudden slow-downs at half a page and at the page size. This form has none while pages are
// plentiful. If pages are scarce, chunks above half a page and runs of pages take longest.
#pragma once

#include "allocators/scatteralloc/scatter_heap.hpp"

namespace allocbench {

struct ScatterAllocReworked : scatteralloc::ScatterHeap<scatteralloc::Coalescing::on, scatteralloc::PageReset::on> {
  static constexpr Traits traits{.name = "scatteralloc_reworked",
                                 .display_name = "ScatterAlloc, reworked",
                                 .paper = "Steinberger et al. 2012",
                                 .summary =
                                     "pages found by a hash of size, SM and warp; bit fields; page reset; "
                                     "small requests of a warp share a chunk",
                                 .form = Form::reworked};
  static ScatterAllocReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct ScatterAllocReworkedNoReset
    : scatteralloc::ScatterHeap<scatteralloc::Coalescing::on, scatteralloc::PageReset::off> {
  static constexpr Traits traits{.name = "scatteralloc_reworked_no_reset",
                                 .display_name = "ScatterAlloc, reworked, no page reset",
                                 .paper = "Steinberger et al. 2012; Winter et al. 2021",
                                 .summary =
                                     "a page keeps its first chunk size forever: the default of the authors' "
                                     "code and what the 2021 survey measured",
                                 .form = Form::ablation,
                                 .based_on = "scatteralloc_reworked"};
  static ScatterAllocReworkedNoReset create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct ScatterAllocReworkedNoCoalescing
    : scatteralloc::ScatterHeap<scatteralloc::Coalescing::off, scatteralloc::PageReset::on> {
  static constexpr Traits traits{.name = "scatteralloc_reworked_no_coalescing",
                                 .display_name = "ScatterAlloc, reworked, no coalescing",
                                 .paper = "Steinberger et al. 2012",
                                 .summary = "every request takes a chunk of its own",
                                 .form = Form::ablation,
                                 .based_on = "scatteralloc_reworked"};
  static ScatterAllocReworkedNoCoalescing create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(scatteralloc_reworked, ScatterAllocReworked, ScatterAllocReworkedNoReset,
                    ScatterAllocReworkedNoCoalescing)
