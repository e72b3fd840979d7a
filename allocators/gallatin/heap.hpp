// Heap is the memory of Gallatin with the words that describe it (McCoy & Pandey 2024; layout of the authors' public
// code).
//
// * By default, a segment is 16 MiB of the pool. A segment is free, has one class, or is part of a run of segments for
//   a large request.
// * A block is 4096 slices of one class. A segment of class c has 256 >> c blocks.
// * The size of a slice is a power of two from 16 B to 4096 B. There are nine classes.
//
// In general, a segment has S bytes, the largest slice has m bytes, and there are n classes. A block then has S / m
// slices, and a segment of class c has 2^(n-1-c) blocks.
//
// * `ids` has a word per segment: its class, free_id, or first_run_id + n at the head of a run of n segments. The other
//   segments of a run have free_id.
// * `blocks` has two words per block: the slices handed out, with the class in bits 20 to 31, and the slices freed.
// * `rings` has the numbers of the returned blocks of each segment, in order.
// * `counters` has four words per segment: blocks taken, places of the ring taken, places filled in order, and free
//   blocks - 1.
// * `trees` has a tree of the free segments, and a tree per class of the segments with free blocks (bit_tree.hpp).
// * `pinned` has, for each class, the blocks that serve slices. SMs share them (slices.hpp).
// * Bit c of `locks` is set while class c fetches a segment, and bit `classes` while a request looks for a run.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "allocators/gallatin/bit_tree.hpp"
#include "allocators/gallatin/parameters.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::gallatin {

inline constexpr std::uint32_t free_id = 0xffffffffu;
inline constexpr std::uint32_t first_run_id = 10;
inline constexpr std::uint32_t no_block = 0xffffffffu;
inline constexpr std::uint32_t smallest_slice_log2 = 4;
// A request takes one slice, or up to 8 of the largest slices. A larger request takes a block or a run of segments.
inline constexpr std::uint32_t most_count_log2 = 3;

// An entry of `pinned` is being_replaced, vacant, or first_pinned + b for a block b.
inline constexpr std::uint32_t being_replaced = 0;
inline constexpr std::uint32_t vacant = 1;  // entry for which no team could get a block
inline constexpr std::uint32_t first_pinned = 2;

struct BlockCounters {
  static constexpr std::uint32_t class_shift = 20;
  static constexpr std::uint32_t count_mask = (1u << class_shift) - 1;

  std::uint32_t taken;  // slices handed out, plus class << class_shift
  std::uint32_t freed;
};

struct SegmentCounters {
  std::uint32_t taken;    // blocks taken from the segment
  std::uint32_t entered;  // places of the ring taken by returned blocks
  std::uint32_t settled;  // places of the ring filled, in order
  std::uint32_t active;   // free blocks - 1; all ones if the segment has no class
};

struct Heap {
  const Heap* copy = nullptr;  // copy of the heap in device memory, for the slow paths
  std::byte* base = nullptr;
  std::uint32_t* ids = nullptr;
  BlockCounters* blocks = nullptr;
  std::uint32_t* rings = nullptr;
  SegmentCounters* counters = nullptr;
  std::uint64_t* trees = nullptr;
  std::uint32_t* pinned = nullptr;
  std::uint32_t* locks = nullptr;
  TreeShape shape;
  std::uint32_t segments = 0;
  std::uint32_t segment_log2 = 0;
  std::uint32_t classes = 0;
  std::uint32_t slices_log2 = 0;  // log2 of the slices of a block
  std::uint32_t pinned_log2 = 0;  // log2 of the pinned blocks of the smallest class
  Parameters parameters;

  SIMT_HOST_FN std::uint32_t slices() const { return 1u << slices_log2; }
  SIMT_HOST_FN std::uint32_t block_log2(std::uint32_t size_class) const {
    return smallest_slice_log2 + size_class + slices_log2;
  }
  SIMT_HOST_FN std::uint32_t ring_log2() const { return classes - 1; }
  SIMT_HOST_FN std::uint32_t blocks_log2(std::uint32_t size_class) const { return classes - 1 - size_class; }
  SIMT_HOST_FN std::uint32_t pinned_count(std::uint32_t size_class) const {
    const std::uint32_t halved = 1u << pinned_log2 >> size_class;
    return halved > parameters.least_pinned_blocks ? halved : parameters.least_pinned_blocks;
  }
  // Returns log2 of the largest number of consecutive slices that a request may take.
  SIMT_HOST_FN std::uint32_t most_count_log2() const {
    return slices_log2 < gallatin::most_count_log2 ? slices_log2 : gallatin::most_count_log2;
  }
  SIMT_HOST_FN std::uint32_t pinned_stride() const { return pinned_count(0); }
  SIMT_FN std::uint32_t& pinned_entry(std::uint32_t size_class, std::uint32_t slot) const {
    return pinned[size_class * pinned_stride() + slot];
  }
  SIMT_HOST_FN BitTree tree(std::uint32_t number) const {
    return {shape, trees + std::size_t{number} * shape.words, parameters.recheck_cleared_words};
  }
  SIMT_HOST_FN BitTree class_tree(std::uint32_t size_class) const { return tree(1 + size_class); }
  SIMT_HOST_FN BitTree free_segments() const { return tree(0); }

  SIMT_FN std::size_t offset_of(const void* block) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(block) - base);
  }
  SIMT_FN std::byte* segment_begin(std::uint32_t segment) const {
    return base + (std::size_t{segment} << segment_log2);
  }
  // Blocks are numbered segment by segment, as if all segments had the largest number of blocks.
  SIMT_HOST_FN std::uint32_t segment_of(std::uint32_t block) const { return block >> ring_log2(); }
  SIMT_HOST_FN std::uint32_t index_of(std::uint32_t block) const { return block & ((1u << ring_log2()) - 1); }
  SIMT_FN std::byte* slice(std::uint32_t block, std::uint32_t size_class, std::uint32_t slice) const {
    return segment_begin(segment_of(block)) + (std::size_t{index_of(block)} << block_log2(size_class)) +
           (std::size_t{slice} << (smallest_slice_log2 + size_class));
  }

  // ---- host ----
  std::size_t tree_words() const { return std::size_t{classes + 1} * shape.words; }
  std::size_t all_blocks() const { return std::size_t{segments} << ring_log2(); }
  std::size_t pinned_entries() const { return std::size_t{classes} * pinned_stride(); }
  std::size_t max_slice_bytes() const { return std::size_t{1} << (smallest_slice_log2 + classes - 1); }
  // Returns how many segments the first blocks of all entries take, including segments fetched in advance.
  std::size_t first_segments() const {
    std::size_t taken = 0;
    for (std::uint32_t size_class = 0; size_class < classes; ++size_class) {
      taken += (pinned_count(size_class) >> blocks_log2(size_class)) + 1;
    }
    return taken;
  }
  // Returns the largest request of a fresh heap. Runs lie beyond the first word of the tree of free segments.
  std::size_t max_request() const {
    const std::size_t lowest = std::max(std::size_t{1} << shape.fanout_log2, first_segments());
    constexpr std::size_t most_run = 0xffff - first_run_id;
    const std::size_t run = segments > lowest ? std::min(segments - lowest, most_run) : 1;
    return run << segment_log2;
  }

  static Heap lay_out(std::size_t pool_bytes, const Parameters& parameters, const std::string& name) {
    Heap heap;
    heap.parameters = parameters;
    std::uint64_t segment = parameters.segment_bytes;
    while (segment > 64 && pool_bytes / segment < parameters.least_segments) segment /= 2;
    const std::uint64_t largest = segment == parameters.segment_bytes ? segment : segment / 16;
    const std::uint64_t slice = std::min(std::max<std::uint64_t>(largest, 16), parameters.max_slice_bytes);
    const std::uint64_t count = pool_bytes / segment;
    const bool enough = count >= parameters.least_segments;
    if (!enough || segment < 4 * slice || count > most_segments || segment / slice > most_slices) {
      throw Unsupported(name + " needs a pool of " + std::to_string(parameters.least_segments) + " to " +
                        std::to_string(most_segments) + " segments, each of 4 to " + std::to_string(most_slices) +
                        " slices of " + std::to_string(slice) + " bytes");
    }
    heap.segments = static_cast<std::uint32_t>(count);
    heap.segment_log2 = log2_of(segment);
    heap.classes = log2_of(slice) - smallest_slice_log2 + 1;
    heap.slices_log2 = log2_of(segment / slice);
    // The smallest class pins at most half the blocks of a segment, as published, unless `least_pinned_blocks` is
    // larger.
    heap.pinned_log2 = std::min(log2_of(parameters.pinned_blocks), heap.classes - std::min(heap.classes, 2u));
    heap.shape = TreeShape::of(heap.segments, log2_of(parameters.fanout));
    return heap;
  }

  void allocate(Arena& arena, bool has_table) {
    base = arena.pool().base;
    ids = arena.metadata<std::uint32_t>(segments);
    blocks = arena.metadata<BlockCounters>(all_blocks());
    rings = arena.metadata<std::uint32_t>(all_blocks());
    counters = arena.metadata<SegmentCounters>(segments);
    trees = arena.metadata<std::uint64_t>(tree_words());
    if (has_table) pinned = arena.metadata<std::uint32_t>(pinned_entries());
    locks = arena.metadata<std::uint32_t>(1);
    Heap* const device_copy = arena.metadata<Heap>(1);
    copy = device_copy;
    simt::copy_to_device(arena.stream(), device_copy, this, sizeof *this);
  }

 private:
  static constexpr std::size_t most_segments = std::size_t{1} << 22;
  static constexpr std::size_t most_slices = 1 << 16;

  static std::uint32_t log2_of(std::uint64_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); }
};

// Makes all segments free, resets their counters, and marks all entries of the table of pinned blocks as vacant.
struct PrepareHeap {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Heap heap) const {
    const std::uint32_t me = thread.rank_in_grid();
    const std::uint32_t all = thread.grid_size();
    for (std::uint32_t i = me; i < heap.segments; i += all) {
      heap.ids[i] = free_id;
      heap.counters[i] = {0, 0, 0, 0xffffffffu};
    }
    std::uint32_t nodes = heap.segments;
    std::uint32_t begin = 0;
    for (std::uint32_t layer = 0; layer < heap.shape.layers; ++layer) {
      const std::uint32_t children = nodes;
      nodes = heap.shape.nodes_for(nodes);
      for (std::uint32_t i = me; i < nodes; i += all) {
        const std::uint32_t left = children - (i << heap.shape.fanout_log2);
        const std::uint32_t ones = left < 1u << heap.shape.fanout_log2 ? left : 1u << heap.shape.fanout_log2;
        heap.trees[begin + i] = ~std::uint64_t{0} >> (64 - ones);
      }
      begin += nodes;
    }
    if (heap.pinned == nullptr) return;
    for (std::uint32_t i = me; i < heap.classes * heap.pinned_stride(); i += all) heap.pinned[i] = vacant;
  }
};

inline void make_new(simt::Stream& stream, const Heap& heap) {
  simt::device_fill(stream, heap.blocks, 0, heap.all_blocks() * sizeof *heap.blocks);
  simt::device_fill(stream, heap.rings, 0, heap.all_blocks() * sizeof *heap.rings);
  simt::device_fill(stream, heap.trees, 0, heap.tree_words() * sizeof *heap.trees);
  simt::device_fill(stream, heap.locks, 0, sizeof *heap.locks);
  const std::uint32_t blocks = std::clamp(heap.segments / 128, 1u, 64u);
  simt::launch(stream, {blocks, 128}, PrepareHeap{}, heap);
}

}  // namespace allocbench::gallatin
