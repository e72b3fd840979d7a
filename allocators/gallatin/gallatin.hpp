// Gallatin finds segments in van Emde Boas trees and cuts them into blocks of slices. One addition usually takes the
// slices of all lanes of a warp that request one class.
//
// Paper: McCoy & Pandey, Gallatin: A General-Purpose GPU Memory Manager, PPoPP 2024. We do not have the paper's text,
// so protocol, layout and defaults follow the authors' public code of March 2024.
//
// Idea, with the default sizes:
// * malloc, up to 4 KiB: A request gets a slice, whose size is a power of two. Each size class has a table of pinned
//   blocks, and the SM selects the entry. One load and one addition serve all lanes of a warp that request one class,
//   unless the block ends.
// * malloc, up to 32 KiB: A request gets 2, 4 or 8 of the largest slices in a row.
// * malloc, up to one segment (16 MiB): A request gets a whole block.
// * malloc, above one segment: A request gets a run of segments.
// * free: A free finds the block by the class of the segment. One addition per block and group of lanes counts the
//   freed slices. A block is returned when all its slices are freed, and a segment when all its blocks are returned.
//
// heap.hpp describes the data. bit_tree.hpp, blocks.hpp, slices.hpp and runs.hpp describe the protocols.
//
// Differs from the public code:
// * We chose the memory orders (see the end of this comment). Groups of lanes are explicit masks. Lanes that have their
//   slice leave the group, and the others stay together.
// * A malloc that finds no memory returns null in bounded time. A request for a block fails when it finds both the
//   class's tree and the tree of free segments empty; the public code makes all its tries. A request searches once for
//   a run; the public code searches 500 times.
// * Assumed: An entry is marked vacant if its block cannot be replaced. A team checks up to 30 entries. If none of them
//   has a block and the team's own entry is vacant, the team fills this entry, or returns null if it cannot.
// * Assumed: A team detaches a block that it finds twice in a row, if the block is used up or of another class. The
//   lanes that crossed the end of the block may have found it in another entry.
// * Assumed: A whole block is returned if a team that knew the block from an earlier use takes slices of it first.
// * A fetch of a segment adds the free blocks to the counter `active` instead of storing them, because a request that
//   found the segment in an earlier use may have subtracted from the counter. A request that extends beyond a block may
//   be the last to free slices of it, and then it returns the block.
// * Rings and the table hold block numbers of 32 bits instead of pointers. Classes of segments have 32 bits instead of
//   16.
// * Pools below 512 MiB have smaller segments, so that there are at least 32 of them. A slice is then at most a
//   sixteenth of a segment. The entries of the smallest class pin at most half a segment, as published, unless
//   `least_pinned_blocks` is larger.
// * The pool is not filled with zeros when the heap is made.
//
// As published:
// * At start the table pins 13 segments. Pools of 64 segments or fewer serve nothing above a segment.
// * A segment enters its class's tree again when its ring passes a tenth of its blocks. Until then, its free blocks are
//   hidden. A simultaneous removal may hide an insertion into a tree (recheck_cleared_words).
// * A free of a run first sets the bits of its segments and then resets their class. A fetch of such a segment between
//   these steps ends the kernel (reset_class_first).
// * The counter of a block has 20 bits. If about four thousand full warps request 32 KiB at once, additions to an
//   exhausted block could overflow into the class.
//
// A team of lanes makes the operations below on shared words. tests/allocators/fidelity/gallatin_test.cpp counts them.
// The public code makes the same operations, except where the list says otherwise.
// * Slice: one load of the entry and one addition to the block's counter. If a lane takes several slices, one more
//   addition frees the surplus.
// * End of a block: two compare-exchanges of the entry, and a new block.
// * Block: loads of the class's tree, from up to 15 random segments and then from the lowest segment. One subtraction
//   from the free blocks, one load of the class and one addition to the taken blocks follow. If all blocks have been
//   taken once, one exchange empties a place of the ring. We set the block's counter by a store, the public code by an
//   exchange.
// * Last block of a segment: one OR and one AND for the lock, loads and one or more ANDs of the tree of free segments,
//   one compare-exchange of the class, and one store per block in the ring. The class's tree gets one or more ANDs and
//   later one or more ORs. We set the segment's counters by three stores and one addition, the public code by four
//   exchanges.
// * Free: one load of the class, which can hit the cache, and one addition to the block's counter.
// * Return of a block: one exchange of the block's counter, one addition to the entered blocks and one addition to the
//   free blocks. At a tenth of the ring, the class's tree gets one or more ORs. We write the ring by a store and a
//   compare-exchange; the public code uses an exchange, and loads the class once more.
// * Return of a segment: one compare-exchange of the free blocks, one or more ANDs of the class's tree and one or more
//   ORs of the tree of free segments. We reset the class by a store, the public code by a compare-exchange.
//
// The memory orders and the code around these operations differ. The PTX of the public code (nvcc 13.0, sm_90) shows:
// * Slice: four fences (membar.gl) and four dependent loads of pointers before the load of the entry. We make one
//   addition with acquire, use no fence and load only the pointer to the table.
// * End of a block: two more fences, and four more if a segment is fetched in advance.
// * Free: no fence, but three loads of pointers. We make one addition with release.
// * Return of a block: one fence, or two if the class's tree changes, and two more if the segment is returned. We make
//   one exchange with acquire, one compare-exchange with acquire and release, and one addition with release.
//
// On an H200, our mallocs take less time than those of the public code (results/reference/h200/peers). At 16 B the
// fences and loads above explain the difference: with them, this form takes as long as the public code. The fences and
// loads are not part of the design. At 4 KiB the cause is not known. A block of slices is then a segment, so 4,096
// requests use up a segment, and the public code needs more steps to get the next one. Our frees are faster as well,
// and the loads of pointers do not explain this.
#pragma once

#include "allocators/gallatin/inspect.hpp"
#include "allocators/gallatin/requests.hpp"
#include "allocators/gallatin/slices.hpp"

namespace allocbench {
namespace gallatin {

// Gives each entry of the table of pinned blocks its first block, until no block is left. One lane serves one size
// class.
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
  // The pool has twelve segments. A segment has two blocks of four slices of 16 bytes, or one block of four slices of
  // 32 bytes. Trees have four layers. A pinned block may lie between free segments, and its unused slices serve no
  // other class.
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

  const gallatin::Heap& heap() const { return heap_; }

 private:
  gallatin::Heap heap_;
  RequestLimit limit_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(gallatin, Gallatin)
