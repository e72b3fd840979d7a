// Inspection checks the invariants of a Gallatin heap on the host while no kernel runs.
//
// * No lock is held, and no entry waits for a block.
// * The counter of a free segment shows no free blocks. If the segment belongs to no run, it is in the tree of free
//   segments. A segment with a class is not in this tree. Its counters agree on the number of free blocks, and no place
//   of its ring waits for a block.
// * Each block has fewer freed slices than slices, because a block whose slices are all freed is returned.
// * A pinned block with slices left lies in a segment of its class.
//
// Trees of classes are not checked, because a segment with free blocks may be missing from its tree, as published.
#pragma once

#include <vector>

#include "allocators/gallatin/heap.hpp"

namespace allocbench::gallatin {

class Inspection {
 public:
  Inspection(simt::Stream& stream, const Heap& heap)
      : heap_(heap),
        ids_(copy(stream, heap.ids, heap.segments)),
        counters_(copy(stream, heap.counters, heap.segments)),
        blocks_(copy(stream, heap.blocks, heap.all_blocks())),
        trees_(copy(stream, heap.trees, heap.tree_words())),
        pinned_(copy(stream, heap.pinned, heap.pinned == nullptr ? 0 : heap.pinned_entries())),
        locks_(copy(stream, heap.locks, 1)[0]) {}

  // Returns the first broken invariant in words, or an empty text.
  std::string broken_invariant() const {
    if (locks_ != 0) return "a class is still locked";
    std::uint32_t rest_of_run = 0;
    for (std::uint32_t segment = 0; segment < ids_.size(); ++segment) {
      const std::uint32_t id = ids_[segment];
      std::string broken;
      if (id == free_id) {
        const bool in_run = rest_of_run != 0;
        rest_of_run -= in_run ? 1 : 0;
        if (in_run == is_free(segment)) broken = in_run ? " is part of a run and free" : " is free but in no tree";
        if (counters_[segment].active != 0xffffffffu) broken = " is free and has free blocks";
      } else if (id >= first_run_id) {
        rest_of_run = id - first_run_id - 1;
      } else {
        broken = broken_class(segment, id);
      }
      if (!broken.empty()) return "segment " + std::to_string(segment) + broken;
    }
    for (const BlockCounters& block : blocks_) {
      if (block.freed >= heap_.slices()) return "a block without slices in use was not given back";
    }
    return broken_entry();
  }

  std::uint32_t id_of_block(std::uint32_t block) const { return ids_[block >> heap_.ring_log2()]; }
  std::uint32_t pinned(std::uint32_t size_class, std::uint32_t slot) const {
    return pinned_[size_class * heap_.pinned_stride() + slot];
  }

 private:
  template <class T>
  static std::vector<T> copy(simt::Stream& stream, const T* from, std::size_t count) {
    std::vector<T> image(count);
    simt::copy_to_host(stream, image.data(), from, count * sizeof(T));
    return image;
  }

  bool is_free(std::uint32_t segment) const {
    const std::uint32_t log2 = heap_.shape.fanout_log2;
    return (trees_[segment >> log2] >> (segment & ((1u << log2) - 1)) & 1) != 0;
  }

  std::string broken_class(std::uint32_t segment, std::uint32_t size_class) const {
    const SegmentCounters& counters = counters_[segment];
    if (is_free(segment)) return " has class " + std::to_string(size_class) + " and is free";
    if (counters.settled != counters.entered) return " waits for a block that nobody enters into the ring";
    const std::uint32_t blocks = 1u << heap_.blocks_log2(size_class);
    if (counters.active + 1 != blocks - counters.taken + counters.entered) {
      return " has " + std::to_string(counters.active + 1) + " free blocks; its ring has " +
             std::to_string(blocks - counters.taken + counters.entered);
    }
    return {};
  }

  std::string broken_entry() const {
    if (pinned_.empty()) return {};
    for (std::uint32_t size_class = 0; size_class < heap_.classes; ++size_class) {
      for (std::uint32_t slot = 0; slot < heap_.pinned_count(size_class); ++slot) {
        const std::uint32_t entry = pinned(size_class, slot);
        if (entry == being_replaced) return "a pinned entry waits for a block that nobody fetches";
        if (entry == vacant) continue;
        const std::uint32_t block = entry - first_pinned;
        const std::uint32_t taken = blocks_[block].taken;
        // A used-up block may already serve again; the team that finds it detaches it.
        const bool serves =
            taken >> BlockCounters::class_shift == size_class && (taken & BlockCounters::count_mask) < heap_.slices();
        if (serves && ids_[heap_.segment_of(block)] != size_class) {
          return "an entry of class " + std::to_string(size_class) + " has a block of another class";
        }
      }
    }
    return {};
  }

  const Heap& heap_;
  std::vector<std::uint32_t> ids_;
  std::vector<SegmentCounters> counters_;
  std::vector<BlockCounters> blocks_;
  std::vector<std::uint64_t> trees_;
  std::vector<std::uint32_t> pinned_;
  std::uint32_t locks_;
};

}  // namespace allocbench::gallatin
