// Gallatin: segments found in van Emde Boas trees, cut into blocks of slices that a warp takes with one addition.
//
// Paper: McCoy & Pandey, Gallatin: A General-Purpose GPU Memory Manager, PPoPP 2024. The text was not available to us:
// protocol, layout and defaults are those of the authors' public code of March 2024.
// Idea:
//   malloc  up to 4 KiB: a slice of a power of two from the block that the SM's entry of the class's table names: one
//           load and one addition for all lanes of a class. Up to 32 KiB: 2, 4 or 8 of the largest slices in a row.
//           Up to a segment of 16 MiB: a whole block. Above: a run of segments.
//   free    the class of the segment gives the block; one addition per block and group of lanes. A block is returned
//           when all its slices were freed, and a segment when all its blocks were returned.
// Data: heap.hpp. Protocols: bit_tree.hpp, blocks.hpp, slices.hpp, runs.hpp.
//
// Differs from the public code:
//   * Memory orders (last section). Groups of lanes are explicit masks. Lanes that have their slice leave, and the
//     others stay together.
//   * A request of a block ends when the class's tree and the tree of free segments were both found empty (published:
//     after all tries). Runs are searched for once (published: 500 times). So null is returned in bounded time.
//   * Assumed: an entry whose block could not be replaced is marked vacant. A team that finds no entry with a block
//     fills its own entry if that is vacant, and returns null if it cannot. The team checks each entry once.
//   * Assumed: a team that finds the same block twice in a row, used up or in another class, detaches it. The lanes
//     that crossed its end may have found it in another entry.
//   * Assumed: a whole block is returned if a team that knew it from an earlier use took slices of it first.
//   * A fetched segment adds its free blocks to the count instead of storing them: a request that came late may have
//     its subtraction there. A request that extends beyond a block may be the last to free slices of it, and then
//     returns the block.
//   * Block numbers of 32 bits in the rings and the table instead of pointers; classes of segments in 32 bits, not 16.
//   * In pools below 512 MiB segments are smaller than 16 MiB, so that there are 32 of them, and a slice is at most a
//     sixteenth of a segment. The entries of the smallest class pin half a segment, as published.
//   * The pool is not filled with zeros when the heap is made.
// As published:
//   * At start the table pins 13 segments. Pools of 64 segments or fewer serve nothing above a segment.
//   * A segment enters its class's tree again when its ring passes a tenth of its blocks: free blocks of others stay
//     hidden until then. Insertions into a tree may be hidden by a removal at the same time (recheck_cleared_words).
//   * A free of a run first sets the bits of its segments and then resets their class. A fetch in between ends the
//     kernel (reset_class_first).
//   * The count of a block has 20 bits. Additions to an exhausted block could overflow into the class, if more than a
//     thousand full warps request 32 KiB at once.
//
// Operations on shared words, by one team of lanes. Both make the same ones. Where they differ, a bar separates them:
// public code | here. tests/allocators/fidelity/gallatin_test.cpp counts them.
//   slice         entry 1 load; counter 1 addition; several slices per lane: surplus 1 addition
//   end of block  entry 2 compare-exchanges, and a block
//   block         class's tree: loads, from 15 random places and the lowest segment; free blocks 1 subtraction; class
//                 1 load; blocks taken 1 addition; ring 1 exchange, once all blocks were taken before; counter
//                 1 exchange | 1 store
//   last block    class's tree 1 AND or more; lock 1 OR, 1 AND; free segments: loads, 1 AND or more; class
//                 1 compare-exchange; ring 1 store per block; counters 4 exchanges | 3 stores, 1 addition; class's
//                 tree 1 OR or more
//   free          class 1 load from the cache; counter 1 addition
//   block back    counter 1 exchange; ring 1 addition, 1 exchange | 1 store, 1 compare-exchange; at a tenth of the ring
//                 class's tree 1 OR or more; free blocks 1 addition; class 1 load | none
//   segment back  free blocks 1 compare-exchange; class's tree 1 AND or more; class 1 compare-exchange | 1 store; free
//                 segments 1 OR or more
// Orders, and what surrounds these operations, differ. The PTX of the public code (nvcc 13.0, sm_90) has on its way:
//   slice         4 fences (membar.gl) and 4 loads of pointers, each from the one before it, in front of the entry;
//                 here 1 addition with acquire, no fence, and no pointer but that of the table
//   end of block  2 fences more, and 4 more for a segment in advance
//   free          no fence, 3 loads of pointers; here 1 addition with release
//   block back    1 fence, 2 with the tree, 2 more for a segment; here 1 exchange with acquire, 1 compare-exchange with
//                 acquire and release, 1 addition with release
// On an H200 mallocs of this form take less time than those of the public code (results/reference/h200/peers). At 16 B
// the fences and loads above explain the difference: with them this form takes the public code's time. They are not
// part of the design. At 4 KiB they do not explain it. There a block of slices is a segment, so 4,096 requests use up a
// segment, and the public code also needs more steps to get the next one. Whether this is the cause is not known. Frees
// are faster as well; the loads of pointers do not explain this.
#pragma once

#include "allocators/gallatin/inspect.hpp"
#include "allocators/gallatin/requests.hpp"
#include "allocators/gallatin/slices.hpp"

namespace allocbench {
namespace gallatin {

// The first blocks of all entries. One lane per class.
struct PinBlocks {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Heap heap) const {
    const std::uint32_t size_class = thread.rank_in_grid();
    if (size_class >= heap.classes) return;
    for (std::uint32_t slot = 0; slot < heap.pinned_count(size_class); ++slot) {
      const std::uint32_t block = request_block(thread, *heap.copy, size_class);
      if (block == no_block) return;
      thread.atomic(heap.pinned_entry(size_class, slot)).store(first_pinned + block, simt::release);
    }
  }
};

}  // namespace gallatin

class Gallatin {
 public:
  using Parameters = gallatin::Parameters;

  static constexpr Traits traits{.name = "gallatin",
                                 .display_name = "Gallatin",
                                 .paper = "McCoy & Pandey 2024",
                                 .summary =
                                     "segments found in van Emde Boas trees, blocks of 4096 slices shared by SMs, one "
                                     "addition per warp and class; a block is reused when all its slices were freed",
                                 .form = Form::published};

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return gallatin::Heap::lay_out(pool_bytes, parameters, "gallatin").max_request();
  }
  // Twelve segments of two blocks of four slices of 16 bytes, or one block of 32 bytes; four layers of trees. The rest
  // of a class's pinned block serves no other class, and the block may be in any segment, also inside a run.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.segment_bytes = 128;
    parameters.max_slice_bytes = 32;
    parameters.least_segments = 12;
    parameters.pinned_blocks = 2;
    parameters.least_pinned_blocks = 2;
    parameters.fanout = 2;
    return {12 * 128, parameters, 0.5, 0};
  }

  static Gallatin create(Arena& arena, const Parameters& parameters) {
    Gallatin allocator;
    allocator.heap_ = gallatin::Heap::lay_out(arena.pool_bytes(), parameters, "gallatin");
    allocator.heap_.allocate(arena, true);
    allocator.limit_.bytes = allocator.heap_.max_request();
    allocator.reset(arena.stream());
    return allocator;
  }

  void reset(simt::Stream& stream) {
    gallatin::make_new(stream, heap_);
    simt::launch(stream, {1, simt::warp_size}, gallatin::PinBlocks{}, heap_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return gallatin::take(thread, heap_, limit_, bytes, [&](std::uint32_t size_class, std::uint32_t count) {
      return gallatin::take_slices(thread, heap_, size_class, count);
    });
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    gallatin::give_back(thread, heap_, block);
  }

  std::string broken_invariant(simt::Stream& stream) const {
    return gallatin::Inspection(stream, heap_).broken_invariant();
  }

  // For tests.
  const gallatin::Heap& heap() const { return heap_; }

 private:
  gallatin::Heap heap_;
  RequestLimit limit_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(gallatin, Gallatin)
