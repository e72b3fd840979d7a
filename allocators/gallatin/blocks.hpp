// These functions take blocks from the segments of a class and return blocks to them. The functions also fetch and free
// segments.
//
// McCoy & Pandey 2024; protocol of the authors' public code.
// * take: A request searches the class's tree for the first segment at or behind a random one. If it finds none, it
//   tries other random starts (`tree_restarts` in all), and at last the lowest segment. With `first_fit` it starts at
//   the lowest segment. If the tree is empty, the class takes the lowest free segment. One subtraction from the
//   segment's free blocks grants one block: a fresh block, or the next one of its ring. The request that takes the last
//   block removes the segment from the tree. It also fetches another segment in advance, unless another request holds
//   the lock of the class.
// * return: A returned block gets the next place of the ring. The thread that fills the place at a tenth of the ring,
//   rounded up, inserts the segment into the class's tree again. (A ring of one place has no such place.) The thread
//   that returns the last block frees the segment, unless another request takes a block first.
//
// Memory orders:
// * `freed` hands slices over: frees of used slices add to it with release, and the last free exchanges it with
//   acquire.
// * `settled` hands the ring over from one returned block to the next.
// * `active` hands blocks over: a return adds with release, and a take subtracts with acquire.
// * The tree of free segments hands segments over.
#pragma once

#include "allocators/gallatin/heap.hpp"

namespace allocbench::gallatin {

// Gives class `size_class` the lowest free segment. Returns false if it gets none. The caller holds the lock of the
// class.
template <class Thread>
SIMT_FN bool fetch_segment(Thread& thread, const Heap& heap, std::uint32_t size_class) {
  const BitTree free_segments = heap.free_segments();
  SIMT_ROLLED
  for (std::uint32_t tries = 0; tries < heap.parameters.run_tries; ++tries) {
    const std::uint32_t segment = free_segments.successor(thread, 0);
    if (segment == no_segment) return false;
    if (!free_segments.remove(thread, segment)) continue;
    std::uint32_t expected = free_id;
    if (!thread.atomic(heap.ids[segment]).compare_exchange(expected, size_class, simt::acq_rel, simt::relaxed)) {
      thread.trap();  // the segment is in the tree, so it must be free; the trap is as published
    }
    const std::uint32_t blocks = 1u << heap.blocks_log2(size_class);
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < blocks; ++i) {
      thread.atomic(heap.rings[(segment << heap.ring_log2()) + i]).store(0u, simt::relaxed);
    }
    SegmentCounters& counters = heap.counters[segment];
    thread.atomic(counters.taken).store(0u, simt::relaxed);
    thread.atomic(counters.entered).store(0u, simt::relaxed);
    thread.atomic(counters.settled).store(0u, simt::relaxed);
    thread.atomic(counters.active).fetch_add(blocks, simt::release);
    heap.class_tree(size_class).insert(thread, segment);
    return true;
  }
  return false;
}

template <class Thread>
SIMT_FN bool lock_class(Thread& thread, const Heap& heap, std::uint32_t bit) {
  return (thread.atomic(*heap.locks).fetch_or(1u << bit, simt::acquire) >> bit & 1) == 0;
}
template <class Thread>
SIMT_FN void unlock_class(Thread& thread, const Heap& heap, std::uint32_t bit) {
  thread.atomic(*heap.locks).fetch_and(~(1u << bit), simt::release);
}

// Returns the segment from which a thread's n-th search for a block starts.
template <class Thread>
SIMT_FN std::uint32_t random_segment(Thread& thread, const Heap& heap, std::uint32_t n) {
  std::uint32_t hash = (thread.rank_in_grid() + heap.parameters.seed) * 0x9e3779b1u + n * 0x85ebca6bu;
  hash ^= hash >> 15;
  hash *= 0x2c1b3c6du;
  return simt::multiply_high(hash ^ hash >> 13, heap.segments);
}

// Returns a segment of the class's tree, or no_segment if no search finds one.
template <class Thread>
SIMT_FN std::uint32_t find_segment(Thread& thread, const Heap& heap, const BitTree& tree) {
  const std::uint32_t places = heap.parameters.first_fit ? 0 : heap.parameters.tree_restarts;
  SIMT_ROLLED
  for (std::uint32_t n = 0; n < places; ++n) {
    const std::uint32_t segment = tree.successor(thread, random_segment(thread, heap, n));
    if (segment != no_segment) return segment;
  }
  return tree.successor(thread, 0);
}

// Takes a block of this segment. Returns no_block if the segment has no free block or belongs to another class.
template <class Thread>
SIMT_FN std::uint32_t take_from_segment(Thread& thread, const Heap& heap, std::uint32_t size_class,
                                        std::uint32_t segment) {
  SegmentCounters& counters = heap.counters[segment];
  const auto active = thread.atomic(counters.active);
  const auto before = static_cast<std::int32_t>(active.fetch_sub(1u, simt::acquire));
  if (before < 0 || thread.atomic(heap.ids[segment]).load(simt::relaxed) != size_class) {
    active.fetch_add(1u, simt::release);
    return no_block;
  }
  const std::uint32_t blocks_log2 = heap.blocks_log2(size_class);
  const std::uint32_t number = thread.atomic(counters.taken).fetch_add(1u, simt::relaxed);
  std::uint32_t index = number;
  if (number >> blocks_log2 != 0) {
    const std::uint32_t place = (segment << heap.ring_log2()) + (number & ((1u << blocks_log2) - 1));
    index = thread.atomic(heap.rings[place]).exchange(0u, simt::acquire) - 1;
    if (index == no_block) thread.trap();  // a request with the right to a block finds one in the ring
  }
  const std::uint32_t block = (segment << heap.ring_log2()) + index;
  thread.atomic(heap.blocks[block].taken).store(size_class << BlockCounters::class_shift, simt::release);
  if (before == 0) {
    heap.class_tree(size_class).remove(thread, segment);
    if (lock_class(thread, heap, size_class)) {
      fetch_segment(thread, heap, size_class);
      unlock_class(thread, heap, size_class);
    }
  }
  return block;
}

// Returns a block. Returns no_block if the class gets no new segment and its tree is empty, or if all tries fail.
template <class Thread>
SIMT_NOINLINE_FN std::uint32_t request_block(Thread& thread, const Heap& heap, std::uint32_t size_class) {
  const BitTree tree = heap.class_tree(size_class);
  SIMT_ROLLED
  for (std::uint32_t tries = 0; tries < heap.parameters.block_tries;) {
    const std::uint32_t segment = find_segment(thread, heap, tree);
    if (segment == no_segment) {
      if (lock_class(thread, heap, size_class)) {
        const bool fetched = fetch_segment(thread, heap, size_class);
        unlock_class(thread, heap, size_class);
        if (!fetched && tree.successor(thread, 0) == no_segment) return no_block;
        ++tries;
      } else {
        thread.spin_hint();
      }
      continue;
    }
    const std::uint32_t block = take_from_segment(thread, heap, size_class, segment);
    if (block != no_block) return block;
    thread.probe(simt::Step::retry);
    thread.spin_hint();
    ++tries;
  }
  return no_block;
}

template <class Thread>
SIMT_NOINLINE_FN void return_block(Thread& thread, const Heap& heap, std::uint32_t block, std::uint32_t size_class) {
  const std::uint32_t segment = heap.segment_of(block);
  SegmentCounters& counters = heap.counters[segment];
  const std::uint32_t blocks = 1u << heap.blocks_log2(size_class);
  const std::uint32_t number = thread.atomic(counters.entered).fetch_add(1u, simt::relaxed);
  const std::uint32_t place = number & (blocks - 1);
  thread.atomic(heap.rings[(segment << heap.ring_log2()) + place]).store(heap.index_of(block) + 1, simt::relaxed);
  std::uint32_t turn = number;
  while (!thread.atomic(counters.settled).compare_exchange(turn, number + 1, simt::acq_rel, simt::relaxed)) {
    turn = number;
    thread.spin_hint();
  }
  const BitTree tree = heap.class_tree(size_class);
  if (place == (blocks + 9) / 10) tree.insert(thread, segment);
  const auto active = thread.atomic(counters.active);
  const std::uint32_t before = active.fetch_add(1u, simt::release);
  if (before + 1 != blocks - 1) return;
  std::uint32_t expected = blocks - 1;
  if (!active.compare_exchange(expected, 0xffffffffu, simt::acq_rel, simt::relaxed)) return;
  tree.remove(thread, segment);
  thread.atomic(heap.ids[segment]).store(free_id, simt::release);
  heap.free_segments().insert(thread, segment);
}

// Frees `count` slices of the block. The call that frees the last slices returns the block. `order` is release, or
// relaxed for unused slices.
template <class Thread, class Order>
SIMT_FN void free_slices(Thread& thread, const Heap& heap, std::uint32_t block, std::uint32_t size_class,
                         std::uint32_t count, Order order) {
  const auto freed = thread.atomic(heap.blocks[block].freed);
  if (freed.fetch_add(count, order) + count != heap.slices()) return;
  freed.exchange(0u, simt::acquire);
  return_block(thread, *heap.copy, block, size_class);
}

// Returns the number of slices that no call of free() will name, out of `count` slices that begin at `place`. If the
// request was served, these are all but one; otherwise they are the slices before the end of the block.
SIMT_HOST_FN std::uint32_t unnamed_slices(const Heap& heap, bool served, std::uint32_t place, std::uint32_t count) {
  if (served) return count - 1;
  if (place >= heap.slices()) return 0;
  return heap.slices() - place < count ? heap.slices() - place : count;
}
// Frees the unnamed slices of all lanes of a team by one addition.
template <class Thread, class Team>
SIMT_FN void free_unnamed(Thread& thread, const Heap& heap, const Team& team, std::uint32_t block,
                          std::uint32_t size_class, std::uint32_t unnamed) {
  const std::uint32_t sum = team.reduce_add(unnamed);
  if (sum != 0 && team.leader()) free_slices(thread, heap, block, size_class, sum, simt::relaxed);
}

}  // namespace allocbench::gallatin
