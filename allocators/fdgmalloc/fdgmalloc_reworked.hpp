// FDGMalloc, reworked, is a bump allocator per warp over SuperBlocks of a general allocator. A warp frees all its
// blocks at once.
//
// Paper: Widmer, Wodniok, Weber & Goesele, "Fast Dynamic Memory Allocator for Massively Parallel Architectures",
// GPGPU-6 2013; summarised by Vinkler & Havran 2015, section 3.4. fdgmalloc.hpp has the published form.
//
// Idea:
// * malloc: The lanes of a warp that call together add up their requests. Their leader moves the fill level of the
//   warp's SuperBlock for all of them, and fetches a new SuperBlock if some requests do not fit. A sum that does not
//   fit a new SuperBlock becomes one block of the general allocator.
// * release_all: When the last lanes of a warp call this function, their leader frees all blocks of the warp. Nothing
//   is freed individually.
//
// Data: a table with one record per warp, and a chain of the SuperBlocks and large blocks. The next kernel finds the
// record by the number of the warp. warp_heap.hpp describes the record and the protocol.
//
// Sessions (allocators/support/contract/session.hpp): attach() finds the record of the calling warp. The record holds
// all state, so detach stores nothing. Warps are numbered in grid order, so a kernel that releases the blocks of
// another kernel must have the same shape.
//
// Reworked, with the benefit of each change:
// * Offsets come from shuffles. In the published form, every lane adds up 32 request words in global memory, and lanes
//   that do not call take memory.
// * The record lies in the arena, and links of 16 bytes in front of the blocks form the list. So a warp's first block
//   takes one call of the general allocator instead of three.
// * Lanes that move to a new SuperBlock start at its beginning. In the published form, they leave a gap as large as
//   their predecessors' requests.
// * If a sum exceeds the largest request, each lane requests its own block.
//
// The general allocator is a template parameter. Here it is the device heap, as published. Forms over other allocators,
// which Vinkler & Havran 2015, section 6, suggest, are registered as `fdgmalloc_reworked_on_<allocator>`.
#pragma once

#include <string>
#include <vector>

#include "allocators/cuda_malloc/cuda_malloc.hpp"
#include "allocators/fdgmalloc/parameters.hpp"
#include "allocators/fdgmalloc/warp_heap.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/common/tiles.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {
namespace fdgmalloc {

template <class Backing>
class Over {
 public:
  using Parameters = fdgmalloc::Parameters;

  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return beside_link(allocbench::max_request<Backing>(pool_bytes, {}));
  }
  static std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters&) {
    return allocbench::device_heap_bytes<Backing>(pool_bytes, {});
  }

  // Resets the heap. This function exists only if the backing allocator can be reset.
  void reset(simt::Stream& stream) requires(Backing::traits.fresh == Fresh::by_reset) {
    backing_.reset(stream);
    records_.reset(stream);
  }

  template <class Thread>
  SIMT_FN Session<Backing> attach(Thread& thread) {
    return {backing_, records_.find(thread), superblock_units_, limit_};
  }

  // Checks on the host, while no kernel runs, that no lock is held, that exactly the warps with owners have memory, and
  // that the backing allocator's invariants hold. Returns the first broken invariant, or an empty text.
  std::string broken_invariant(simt::Stream& stream) const {
    std::vector<WarpRecord> records(records_.count);
    simt::copy_to_host(stream, records.data(), records_.states, records.size() * sizeof records[0]);
    for (std::size_t warp = 0; warp < records.size(); ++warp) {
      const WarpRecord& record = records[warp];
      if (record.lock != 0) return "the record of warp " + std::to_string(warp) + " is still locked";
      if ((record.owners == 0) != (record.chain == 0) || (record.chain == 0 && record.superblock != 0)) {
        return "warp " + std::to_string(warp) + " has owners without memory, or memory without owners";
      }
    }
    if constexpr (requires { backing_.broken_invariant(stream); }) return backing_.broken_invariant(stream);
    return {};
  }

 protected:
  static Over lay_out(Arena& arena, const Parameters& parameters) {
    Over allocator;
    allocator.backing_ = Backing::create(arena, {});
    std::size_t largest = max_request(arena.pool_bytes(), parameters);
    if constexpr (requires { allocator.backing_.largest_request(); }) {
      largest = beside_link(allocator.backing_.largest_request());
    }
    if (largest < parameters.superblock_bytes) {
      throw Unsupported(std::string(Backing::traits.display_name) + " cannot serve SuperBlocks of " +
                        std::to_string(parameters.superblock_bytes) + " bytes from this pool");
    }
    allocator.records_ = TileTable<WarpRecord>::create(arena, {}, parameters.most_warps);
    allocator.superblock_units_ = static_cast<std::uint32_t>(parameters.superblock_bytes / unit_bytes);
    allocator.limit_.bytes = largest;
    return allocator;
  }

 private:
  // Returns the bytes of a block without its link.
  static std::size_t beside_link(std::size_t block_bytes) {
    return block_bytes < sizeof(ChainLink) ? 0 : block_bytes / unit_bytes * unit_bytes - sizeof(ChainLink);
  }

  Backing backing_;
  TileTable<WarpRecord> records_;
  RequestLimit limit_;
  std::uint32_t superblock_units_ = 0;
};

}  // namespace fdgmalloc

struct FdgMallocReworked : fdgmalloc::Over<CudaMalloc> {
  static constexpr Traits traits{.name = "fdgmalloc_reworked",
                                 .display_name = "FDGMalloc, reworked",
                                 .paper = "Widmer et al. 2013",
                                 .summary = "per-warp SuperBlocks from the device heap, freed in bulk",
                                 .form = Form::reworked,
                                 .frees = Frees::in_bulk,
                                 .pool = PoolLocation::device_heap,
                                 .fresh = Fresh::by_process};
  static SmallHeap<Parameters> small_heap() { return {16 << 10, {.superblock_bytes = 256, .most_warps = 64}}; }
  static FdgMallocReworked create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(fdgmalloc_reworked, FdgMallocReworked)
