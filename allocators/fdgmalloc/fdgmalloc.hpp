// FDGMalloc as published is a bump allocator per warp over SuperBlocks of the device heap. A warp frees all its blocks
// at once.
//
// Paper: Widmer, Wodniok, Weber & Goesele, "Fast Dynamic Memory Allocator for Massively Parallel Architectures",
// GPGPU-6 2013; summarised by Vinkler & Havran 2015, section 3.4. We do not have the paper's text, so steps, layout and
// defaults follow the authors' public code 1.0.
//
// warp_header.hpp describes the idea and the protocol. A warp's first block takes three blocks of the device heap:
// header, list node, and a SuperBlock or one large block.
//
// Sessions (allocators/support/contract/session.hpp): In the public code, each lane keeps the address of its warp's
// header in a register. In this form the address lies in a table, because a warp's heap outlives a kernel. attach()
// finds the address by the number of the warp. The first malloc of a warp also does what `start` of the public code
// does, and release_all() does what `end` does. This form lacks `tidyUp`, which frees the blocks and keeps the header.
//
// Differs from the paper and the public code:
// * Barriers of the calling lanes replace lock step. The barriers stand after the lanes write their requests, before
//   the worker moves the fill level, and after the worker has changed the SuperBlock.
// * Each warp has a lock next to the address of the header. Without contention, the lock costs one exchange and one
//   store per call of a group. On GPUs since Volta, diverged lanes may call at the same time. On older GPUs, the lanes
//   of a warp run in lock step, so two of its groups never call at the same time.
// * A mask holds the lanes that have allocated and have not called release_all() since. The published count begins with
//   the highest lane plus 1, so it never reaches zero if the lanes are not the first ones of the warp. If a calling
//   lane makes its first request of a kernel, the worker adds all calling lanes to the mask by one OR.
// * Requests above the limit of the device heap are refused. If a list node cannot be allocated, the block is freed, as
//   published. A release_all() without blocks does nothing; in the public code, `end` then dereferences a null pointer.
// * Sums of requests have 64 bits. Addresses are broadcast with all bits. The copy of the code in the survey of Winter
//   et al. 2021 destroys the upper half of an address whose bit 31 is set.
// * SuperBlocks are aligned to 16 bytes, because the device heap aligns its blocks so. The alignment attribute of the
//   public code has no effect.
//
// As published: Words of lanes that do not call keep their last requests, so a lone lane may use a SuperBlock for each
// call. Lanes that move to a new SuperBlock keep their offsets, so they leave a gap in it. One lane frees everything.
//
// fdgmalloc_reworked.hpp describes the reworked form and the benefit of each change.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "allocators/cuda_malloc/cuda_malloc.hpp"
#include "allocators/fdgmalloc/parameters.hpp"
#include "allocators/fdgmalloc/warp_header.hpp"
#include "allocators/support/common/tiles.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

class FdgMalloc {
 public:
  using Parameters = fdgmalloc::Parameters;

  static constexpr Traits traits{.name = "fdgmalloc",
                                 .display_name = "FDGMalloc",
                                 .paper = "Widmer et al. 2013",
                                 .summary =
                                     "per-warp SuperBlocks from the device heap, requests added up in global memory, "
                                     "freed in bulk",
                                 .form = Form::published,
                                 .frees = Frees::in_bulk,
                                 .pool = PoolLocation::device_heap,
                                 .fresh = Fresh::by_process};

  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    // Sums of a warp have 32 bits in the published code. The limit keeps requests rounded up to 16 below 2^32.
    return std::min<std::size_t>(allocbench::max_request<CudaMalloc>(pool_bytes, {}), 0xfffffff0u) / 16 * 16;
  }
  static SmallHeap<Parameters> small_heap() { return {16 << 10, {.superblock_bytes = 256, .most_warps = 64}}; }

  static FdgMalloc create(Arena& arena, const Parameters& parameters) {
    FdgMalloc allocator;
    allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
    if (allocator.limit_.bytes < parameters.superblock_bytes) {
      throw Unsupported("the device heap cannot serve SuperBlocks of " + std::to_string(parameters.superblock_bytes) +
                        " bytes from this pool");
    }
    allocator.records_ = TileTable<fdgmalloc::HeaderRecord>::create(arena, {}, parameters.most_warps);
    allocator.superblock_bytes_ = static_cast<std::uint32_t>(parameters.superblock_bytes);
    return allocator;
  }

  template <class Thread>
  SIMT_FN fdgmalloc::HeaderSession attach(Thread& thread) {
    return {records_.find(thread), superblock_bytes_, limit_};
  }

  // Checks on the host, while no kernel runs, that no lock is held. The host cannot read the headers, which lie in the
  // device heap.
  std::string broken_invariant(simt::Stream& stream) const {
    std::vector<fdgmalloc::HeaderRecord> records(records_.count);
    simt::copy_to_host(stream, records.data(), records_.states, records.size() * sizeof records[0]);
    for (std::size_t warp = 0; warp < records.size(); ++warp) {
      if (records[warp].lock != 0) return "the record of warp " + std::to_string(warp) + " is still locked";
    }
    return {};
  }

 private:
  TileTable<fdgmalloc::HeaderRecord> records_;  // one record per warp
  RequestLimit limit_;
  std::uint32_t superblock_bytes_ = 0;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(fdgmalloc, FdgMalloc)
