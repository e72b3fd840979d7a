// A request of Gallatin gets slices, a whole block or a run of segments. These functions serve requests and free blocks
// (McCoy & Pandey 2024; protocol of the authors' public code).
#pragma once

#include "allocators/gallatin/runs.hpp"
#include "allocators/support/common/request.hpp"

namespace allocbench::gallatin {

// Serves one request with a whole block.
template <class Thread>
SIMT_NOINLINE_FN void* take_block(Thread& thread, const Heap& heap, std::uint32_t size_class) {
  for (std::uint32_t tries = 0; tries < heap.parameters.run_tries; ++tries) {
    const std::uint32_t block = request_block(thread, heap, size_class);
    if (block == no_block) return nullptr;
    const std::uint32_t fresh = size_class << BlockCounters::class_shift;
    BlockCounters& counters = heap.blocks[block];
    const std::uint32_t old = thread.atomic(counters.taken).fetch_add(heap.slices(), simt::relaxed);
    if (old == fresh) {
      thread.atomic(counters.freed).fetch_add(heap.slices() - 1, simt::relaxed);
      return heap.slice(block, size_class, 0);
    }
    // A team that knew the block from an earlier use has taken slices of it.
    const std::uint32_t taken = old - fresh;
    if (taken < heap.slices()) {
      free_slices(thread, heap, block, size_class, heap.slices() - taken, simt::relaxed);
    }
  }
  return nullptr;
}

// Serves any request. `take_slices(size_class, count)` serves requests of up to 8 of the largest slices.
template <class Thread, class TakeSlices>
SIMT_FN void* take(Thread& thread, const Heap& heap, RequestLimit limit, std::size_t bytes,
                   const TakeSlices& take_slices) {
  if (limit.refuses(bytes)) return nullptr;
  if (bytes > std::size_t{1} << heap.segment_log2) return take_run(thread, *heap.copy, bytes);
  const std::uint32_t size_class =
      log2_of(static_cast<std::uint32_t>(bytes), smallest_slice_log2) - smallest_slice_log2;
  const std::uint32_t count_log2 = size_class < heap.classes ? 0 : size_class + 1 - heap.classes;
  if (count_log2 <= heap.most_count_log2()) {
    return take_slices(size_class - count_log2, 1u << count_log2);
  }
  return take_block(thread, *heap.copy, size_class > heap.slices_log2 ? size_class - heap.slices_log2 : 0);
}

template <class Thread>
SIMT_FN void give_back(Thread& thread, const Heap& heap, void* block) {
  if (block == nullptr) return;
  const std::size_t offset = heap.offset_of(block);
  const auto segment = static_cast<std::uint32_t>(offset >> heap.segment_log2);
  // The plain load can hit the cache. The load is safe, because the class does not change while a block is in use.
  const std::uint32_t id = heap.ids[segment];
  if (id >= first_run_id) return free_run(thread, *heap.copy, segment, id);
  const auto in_segment = static_cast<std::uint32_t>(offset) & ((1u << heap.segment_log2) - 1);
  const std::uint32_t number = (segment << heap.ring_log2()) + (in_segment >> heap.block_log2(id));
  const auto team = thread.converged().match_any(number);
  team.sync();  // the leader's release covers all lanes
  if (team.leader()) free_slices(thread, heap, number, id, team.num_threads(), simt::release);
}

}  // namespace allocbench::gallatin
