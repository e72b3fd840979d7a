// KeptBlocks keeps freed blocks for requests of their size. These blocks are larger than the largest Basicblock, but
// normally less than 32 times as large. The paper does not have KeptBlocks.
//
// A request is rounded up to one of eight sizes per power of two, and each of these sizes has a FIFO. The tag of a
// block that may be kept contains the block's size. MemoryblockHeap has one lock, which warps take one after the other.
// To take or keep blocks of one size, a warp changes only four counters and the slots of the blocks. Kept blocks do not
// merge, so they return to the heap when it has no room (return_kept_blocks() in superblock.hpp).
#pragma once

#include <algorithm>
#include <bit>

#include "allocators/support/common/request.hpp"
#include "allocators/xmalloc/fifo.hpp"
#include "allocators/xmalloc/memory_chain.hpp"
#include "allocators/xmalloc/tag.hpp"

namespace allocbench::xmalloc {

struct KeptBlocks {
  static constexpr std::uint32_t powers = 5;
  static constexpr std::uint32_t steps_log2 = 3;  // log2 of the sizes from one power of two to the next
  static constexpr std::uint32_t sizes = powers << steps_log2;

  FifoCounters* counters = nullptr;  // null if this heap never keeps blocks (without Superblocks)
  FifoSlot* slots = nullptr;
  std::uint32_t* count = nullptr;  // blocks in the FIFOs, or on their way into them or back to the heap
  std::uint32_t least_log2 = 0;    // log2 of the first size in units
  std::uint32_t capacity = 0;      // capacity of a FIFO of the first power of two; halves from power to power

  // Chooses sizes and capacities of the FIFOs for requests above `largest_payload`. A FIFO has room for at most as many
  // blocks of its power of two as fit into an eighth of the pool. In a small pool, however, the FIFOs of the five
  // powers have room for 32, 16, 8, 4 and 2 blocks.
  static KeptBlocks above(std::uint32_t largest_payload, std::size_t pool_bytes) {
    KeptBlocks kept;
    const std::uint32_t units = units_of(largest_payload + 1, unit_log2);
    kept.least_log2 = std::max(31 - simt::count_leading_zeros(units), steps_log2);
    const std::size_t most = pool_bytes / 8 >> (kept.least_log2 + unit_log2);
    kept.capacity = static_cast<std::uint32_t>(std::bit_floor(std::max<std::size_t>(most, 1u << powers)));
    return kept;
  }
  std::size_t slot_count() const { return std::size_t{capacity} << (steps_log2 + 1); }

  SIMT_HOST_FN Fifo fifo(std::uint32_t size) const {
    const std::uint32_t each = capacity >> (size >> steps_log2);
    const std::size_t before = std::size_t{capacity - each} << (steps_log2 + 1);
    return {counters + size, slots + before + std::size_t{size & ((1u << steps_log2) - 1)} * each, each};
  }
  // Returns the number of the FIFO for blocks of this many units. If such blocks are not kept, it is at least `sizes`.
  SIMT_FN std::uint32_t size_of(std::uint32_t units) const {
    const std::uint32_t log = 31 - simt::count_leading_zeros(units);
    return ((log - least_log2) << steps_log2) + (units >> (log - steps_log2) & ((1u << steps_log2) - 1));
  }

  // Returns the rounded request in units, or 0 if such blocks are not kept.
  SIMT_FN std::uint32_t units_for(std::size_t bytes) const {
    if (counters == nullptr || bytes >> (least_log2 + powers + unit_log2) != 0) return 0;
    const std::uint32_t units = units_of(static_cast<std::uint32_t>(bytes), unit_log2);
    if (units >> least_log2 == 0) return 0;
    const std::uint32_t step_log2 = 31 - simt::count_leading_zeros(units) - steps_log2;
    const std::uint32_t rounded = units_of(units, step_log2) << step_log2;
    return size_of(rounded) < sizes ? rounded : 0;
  }

  // Takes a block of this many units. Returns null if there is none.
  template <class Thread>
  SIMT_FN std::byte* take(Thread& thread, std::uint32_t units) const {
    const std::uint32_t size = size_of(units);
    const auto group = thread.converged().match_any(size);
    std::uint64_t found = 0;
    const bool takes = fifo(size).pop_together(thread, group, found);
    const std::uint32_t taken = simt::popcount(group.ballot(takes));
    if (group.leader() && taken != 0) thread.atomic(*count).fetch_sub(taken, simt::relaxed);
    return takes ? reinterpret_cast<std::byte*>(found) : nullptr;
  }

  // Keeps the block. Returns false if it cannot be kept.
  template <class Thread>
  SIMT_FN bool keep(Thread& thread, std::byte* block, Tag tag) const {
    if (tag.units() == 0) return false;
    const std::uint32_t size = size_of(tag.units());
    const auto group = thread.converged().match_any(size);
    if (group.leader()) thread.atomic(*count).fetch_add(group.num_threads(), simt::relaxed);
    const bool keeps = fifo(size).push_together(thread, group, reinterpret_cast<std::uint64_t>(block));
    const std::uint32_t refused = simt::popcount(group.ballot(!keeps));
    if (group.leader() && refused != 0) thread.atomic(*count).fetch_sub(refused, simt::relaxed);
    return keeps;
  }

  // Returns whether any block is kept. The load acquires, so that a lane that reads 0 finds all returned blocks in the
  // heap.
  template <class Thread>
  SIMT_FN bool any(Thread& thread) const {
    return counters != nullptr && thread.atomic(*count).load(simt::acquire) != 0;
  }
};

}  // namespace allocbench::xmalloc
