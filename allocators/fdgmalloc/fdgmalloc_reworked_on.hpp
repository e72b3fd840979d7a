// This file registers reworked FDGMalloc over allocators other than the device heap, as Vinkler & Havran 2015, section
// 6, suggest. Over CFMMalloc, its blocks are smaller than the largest chunk of a fresh pool, and over KMA smaller than
// 32 KiB. fdgmalloc_reworked.hpp describes the algorithm.
#pragma once

#include "allocators/circular_malloc/cfm_malloc.hpp"
#include "allocators/circular_malloc/cfm_malloc_reworked.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked.hpp"
#include "allocators/kma/kma_reworked.hpp"

namespace allocbench {

struct FdgMallocReworkedOnCFMMalloc : fdgmalloc::Over<CFMMallocReworked> {
  static constexpr Traits traits{.name = "fdgmalloc_reworked_on_cfm_malloc",
                                 .display_name = "FDGMalloc, reworked, on CFMMalloc",
                                 .paper = "Widmer et al. 2013; Vinkler & Havran 2015, sec. 6",
                                 .summary = "per-warp SuperBlocks from CFMMalloc, freed in bulk",
                                 .form = Form::ablation,
                                 .based_on = "fdgmalloc_reworked",
                                 .frees = Frees::in_bulk};
  static SmallHeap<Parameters> small_heap() { return {16 << 10, {.superblock_bytes = 256, .most_warps = 64}}; }
  static FdgMallocReworkedOnCFMMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters)};
  }
};

struct FdgMallocReworkedOnKma : fdgmalloc::Over<KmaReworked> {
  static constexpr Traits traits{.name = "fdgmalloc_reworked_on_kma",
                                 .display_name = "FDGMalloc, reworked, on KMA",
                                 .paper = "Widmer et al. 2013; Vinkler & Havran 2015, sec. 6",
                                 .summary = "per-warp SuperBlocks from KMA, freed in bulk",
                                 .form = Form::ablation,
                                 .based_on = "fdgmalloc_reworked",
                                 .frees = Frees::in_bulk};
  // The pool holds two superblocks of KMA, one of which always stays in KMA's queue.
  static SmallHeap<Parameters> small_heap() { return {128 << 10, {.superblock_bytes = 8192, .most_warps = 64}}; }
  static FdgMallocReworkedOnKma create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(fdgmalloc_reworked_on, FdgMallocReworkedOnCFMMalloc, FdgMallocReworkedOnKma)
