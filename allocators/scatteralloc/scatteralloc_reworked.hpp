// ScatterAlloc: requests are scattered over pages by a hash of their size and of the place where they run.
//
// Paper: Steinberger, Kenzel, Kainz & Schmalstieg, ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the
// GPU, InPar 2012; constants of the authors' public code, version 1.0.
// Idea:
//   malloc  hashes size, SM and warp slot to a page and claims a chunk of it if the page has, or may get, a suitable
//   chunk
//           size; otherwise it goes on to other pages. Larger requests take runs of whole pages.
//   free    clears the chunk's bit. The last thread to leave a page makes it unformatted again (page reset).
//   coalescing  the lanes of a warp that ask for less than 1/32 page each share one chunk: 4 bytes that count the
//           members, then the members from byte 16 on.
// Data: page table and its protocol (page_table.hpp), page formats (page_format.hpp), hash, regions and access blocks
// (search.hpp), runs of pages (multi_page.hpp), malloc and free over them (scatter_heap.hpp). The bits of two-level
// pages lie on the page, everything else outside the pool.
//
// Differs from the paper and its code:
//   * Chunk size, count and bits of a page are one 64-bit word (they were three). A claim is one OR or one ADD instead
//     of load, add, check and OR, and a page cannot be recycled under a claim.
//   * The lanes that use the same page claim it by one operation, and lanes spread over consecutive pages if a page has
//     fewer chunks than lanes. Before the walk a few random places are tried (search.hpp).
//   * A request of exactly one page is a chunk; longer ones hold no lock unless they must scan (multi_page.hpp).
//   * access_blocks is 1 by default (8 in the public code), because the number of the block in use would be a second
//   trip
//     to memory before every claim.
//   * Members that cannot get a chunk together try alone, so coalescing causes no null.
// Winter et al. 2021 measured cliffs at half a page and at the page size. This form has none while pages are plentiful;
// if they are scarce, chunks of one per page and runs of pages take longest.
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
                                 .display_name = "ScatterAlloc, reworked (no page reset)",
                                 .paper = "Steinberger et al. 2012; Winter et al. 2021",
                                 .summary =
                                     "a page keeps its first chunk size for ever: the default of the authors' "
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
                                 .display_name = "ScatterAlloc, reworked (no coalescing)",
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
