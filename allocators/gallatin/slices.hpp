// Slices of Gallatin are cut from pinned blocks. One addition usually serves all lanes that request one class together.
//
// McCoy & Pandey 2024; protocol of the authors' public code. Every class has a table of pinned blocks, and the number
// of the SM selects an entry. The lanes of a warp that request one class together are a team and sum up their slices.
// The last lane adds the sum to the block's counter, and each lane gets its place from the old value. The team that
// crosses the end of the block detaches it and puts a new block into the entry. Until then, other teams use the next
// entries. When an addition arrives, its block may be out of the table and may have another class. The upper bits of
// the counter contain the class. If it is another class, the team frees the slices.
//
// Memory orders: A thread that makes a block available sets the block's counter with release. A team that takes slices
// increases the counter with acquire. So the team sees the block's data, even if it knew the block from an earlier use.
#pragma once

#include "allocators/gallatin/blocks.hpp"

namespace allocbench::gallatin {

// Pinned is the result of the leader's search: a block and its entry, or no_block. `exhausted` means that the leader's
// own entry is vacant and gets no block.
struct Pinned {
  std::uint32_t slot;
  std::uint32_t block;
  bool exhausted;

  SIMT_FN std::uint64_t word() const { return std::uint64_t{exhausted} << 63 | std::uint64_t{slot} << 32 | block; }
  static SIMT_FN Pinned of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32) & 0x7fffffffu, static_cast<std::uint32_t>(word), word >> 63 != 0};
  }
};

// Puts a new block into an entry that the caller has set to being_replaced. If there is no block, the entry becomes
// vacant.
template <class Thread>
SIMT_NOINLINE_FN std::uint32_t fill_entry(Thread& thread, const Heap& heap, std::uint32_t size_class,
                                          std::uint32_t slot) {
  const std::uint32_t block = request_block(thread, heap, size_class);
  std::uint32_t expected = being_replaced;
  thread.atomic(heap.pinned_entry(size_class, slot))
      .compare_exchange(expected, block == no_block ? vacant : first_pinned + block, simt::acq_rel, simt::relaxed);
  return block;
}

template <class Thread>
SIMT_FN Pinned find_pinned(Thread& thread, const Heap& heap, std::uint32_t size_class) {
  constexpr std::uint32_t most_probes = 30;
  const std::uint32_t last = heap.pinned_count(size_class) - 1;
  const std::uint32_t own = thread.sm() & last;
  std::uint32_t own_entry = being_replaced;
  SIMT_ROLLED
  for (std::uint32_t probe = 0; probe <= last && probe < most_probes; ++probe) {
    const std::uint32_t slot = (own + probe) & last;
    const std::uint32_t entry = thread.atomic(heap.pinned_entry(size_class, slot)).load(simt::relaxed);
    if (entry >= first_pinned) return {slot, entry - first_pinned, false};
    if (probe == 0) own_entry = entry;
  }
  std::uint32_t expected = vacant;
  if (own_entry != vacant || !thread.atomic(heap.pinned_entry(size_class, own))
                                  .compare_exchange(expected, being_replaced, simt::acquire, simt::relaxed)) {
    return {own, no_block, false};
  }
  const std::uint32_t block = fill_entry(thread, *heap.copy, size_class, own);
  return {own, block, block == no_block};
}

// Puts a new block into the entry of a block that is used up or has another class, unless another team has done so.
template <class Thread>
SIMT_FN void replace(Thread& thread, const Heap& heap, std::uint32_t size_class, const Pinned& pinned) {
  std::uint32_t expected = first_pinned + pinned.block;
  const auto entry = thread.atomic(heap.pinned_entry(size_class, pinned.slot));
  if (entry.compare_exchange(expected, being_replaced, simt::acq_rel, simt::relaxed)) {
    fill_entry(thread, *heap.copy, size_class, pinned.slot);
  }
}

// Returns `count` slices in a row, or null. Serves all lanes that call together with this class.
template <class Thread>
SIMT_FN void* take_slices(Thread& thread, const Heap& heap, std::uint32_t size_class, std::uint32_t count) {
  auto team = thread.converged().match_any(size_class);
  const std::uint32_t slices = heap.slices();
  std::uint32_t spent = no_block;
  SIMT_ROLLED
  for (std::uint32_t tries = 0; tries < heap.parameters.slice_tries; ++tries) {
    std::uint64_t word = 0;
    if (team.leader()) word = find_pinned(thread, heap, size_class).word();
    const Pinned pinned = Pinned::of(team.broadcast(word));
    if (pinned.exhausted) return nullptr;
    if (pinned.block == no_block) {
      thread.probe(simt::Step::retry);
      thread.spin_hint();
      continue;
    }
    const std::uint32_t before = team.exclusive_sum(count);
    const std::uint32_t last = 31 - simt::count_leading_zeros(team.mask());
    BlockCounters& block = heap.blocks[pinned.block];
    std::uint32_t old = 0;
    if (thread.lane() == last) old = thread.atomic(block.taken).fetch_add(before + count, simt::acquire);
    old = team.shfl_lane(old, last);
    team.sync();  // makes the last lane's acquire cover all lanes
    const std::uint32_t block_class = old >> BlockCounters::class_shift;
    const std::uint32_t place = (old & BlockCounters::count_mask) + before;
    const bool right = block_class == size_class;
    const bool fits = right && place + count <= slices;
    free_unnamed(thread, heap, team, pinned.block, block_class, unnamed_slices(heap, fits, place, count));
    const bool useless = !right || (old & BlockCounters::count_mask) >= slices;
    const bool crossed = team.any(right && place < slices && place + count >= slices);
    if (team.leader() && (crossed || (useless && spent == pinned.block))) replace(thread, heap, size_class, pinned);
    spent = useless ? pinned.block : no_block;
    team = team.partition(fits);
    if (fits) return heap.slice(pinned.block, size_class, place);
    thread.probe(simt::Step::retry);
  }
  return nullptr;
}

}  // namespace allocbench::gallatin
