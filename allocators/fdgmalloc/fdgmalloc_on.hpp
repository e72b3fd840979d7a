// FDGMalloc over other allocators of the suite than the device heap, as Vinkler & Havran 2015, section 6, suggest: with
// CFMMalloc, whose blocks have any size, and with KMA, whose blocks reach 32 KiB. The algorithm: fdgmalloc.hpp.
#pragma once

#include "allocators/circular_malloc/cfm_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc.hpp"
#include "allocators/kma/kma.hpp"

namespace allocbench {

struct FdgMallocOnCFMMalloc : fdgmalloc::Over<CFMMalloc> {
  static constexpr Traits traits{.name = "fdgmalloc_on_cfm_malloc",
                                 .display_name = "FDGMalloc (on CFMMalloc)",
                                 .paper = "Widmer et al. 2013; Vinkler & Havran 2015, sec. 6",
                                 .summary = "per-warp SuperBlocks from CFMMalloc, freed in bulk",
                                 .frees = Frees::in_bulk,
                                 .ablation = true};
  static SmallHeap<Parameters> small_heap() { return {16 << 10, {.superblock_bytes = 256, .most_warps = 64}}; }
  static FdgMallocOnCFMMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters)};
  }
};

struct FdgMallocOnKma : fdgmalloc::Over<Kma> {
  static constexpr Traits traits{.name = "fdgmalloc_on_kma",
                                 .display_name = "FDGMalloc (on KMA)",
                                 .paper = "Widmer et al. 2013; Vinkler & Havran 2015, sec. 6",
                                 .summary = "per-warp SuperBlocks from KMA, freed in bulk",
                                 .frees = Frees::in_bulk,
                                 .ablation = true};
  // Two superblocks of KMA, one of which stays behind in its queue.
  static SmallHeap<Parameters> small_heap() { return {128 << 10, {.superblock_bytes = 8192, .most_warps = 64}}; }
  static FdgMallocOnKma create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(fdgmalloc_on, FdgMallocOnCFMMalloc, FdgMallocOnKma)
