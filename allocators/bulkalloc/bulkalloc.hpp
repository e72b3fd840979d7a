// BulkAlloc (a reconstruction) has bulk semaphores in front of a buddy tree, and arenas with bins for small blocks. By
// default, each SM has its own arena if the pool has at least eight chunks per SM.
//
// Paper: Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019. No complete implementation is public,
// and the paper leaves gaps. So this is a reconstruction, and its times do not apply to the authors' code.
//
// Idea: A request has two stages. In stage 1, a bulk semaphore grants the caller a unit, perhaps after a wait, or tells
// it to make a batch of units. In stage 2, the caller searches the tree or the bins and always finds the memory of its
// unit, because the semaphore grants no more units than there are. So a thread waits, instead of failing, while other
// threads make enough units.
// * TBuddy serves blocks of 4 KiB * 2^h from a static binary tree with a semaphore per height (buddy_tree.hpp,
//   semaphore.hpp).
// * UAlloc serves blocks of 16 bytes to 1 KiB, in powers of two, from bins of 4 KiB in chunks of 256 KiB (ualloc.hpp,
//   bin_list.hpp, chunks.hpp, layout.hpp). An unlinked bin is reused after all readers of its list have left (rcu.hpp).
//   The numbers of both items are those of the default parameters.
//
// free distinguishes the blocks of TBuddy and UAlloc by their addresses: only blocks of TBuddy begin at a page's start.
//
// Data: The nodes of the tree, the height of each block in use, the semaphores, and the lists and RCU counters of the
// arenas lie outside the pool. The headers of bins and chunks lie in the pool.
//
// Assumed, because the paper is silent or contradicts itself:
// * Chunks have 256 KiB (`chunk_bytes`). The paper's 62 bins with a tail each fill exactly 256 KiB, not the 512 KiB of
//   its text.
// * An arena per SM needs a chunk per SM. The paper's smallest pool, 8 MiB, has no room for the chunks of 80 SMs. So
//   the default number of arenas is at most an eighth of the pool's chunks, but at least one, and SMs may share an
//   arena.
// * Lanes of a warp that request the same size wait together, and their leader claims slots for all of them. Lanes that
//   free slots of one bin, and lanes that request blocks of one height from the tree, also act together
//   (semaphore.hpp). A lane that makes a bin keeps slots for the lanes that wait with it, and does not walk a list.
// * The tree serves the size of which a bin has only one slot (2 KiB), as in the paper's measurements.
// * If a bin or chunk cannot be made, each lane of the group takes an available unit. A lane that finds none returns
//   null.
// * Other files list further assumptions: the widths of a semaphore's fields, the height of a block in use, the order
//   of signals.
//
// Differs from the paper:
// * The smallest block has 16 bytes, not 8. The size of the pool need not be a power of two.
// * If two halves of a block are freed at the same time, a thread merges them afterwards and announces the merged block
//   (buddy_tree.hpp). No thread announces that an empty bin will return to its chunk.
// * A free that empties a bin returns the bin to its chunk only if it gets the units of the bin's other slots. While
//   unfinished claims hold some of these units, the free checks again, at most 64 times. After that, it keeps the bin.
//   A later free that empties the bin tries again.
// * Lanes of a warp that request different sizes run one group after the other; the paper does not say how a warp is
//   divided. A call determines once which lanes run together. Votes within this group form the later groups, and lanes
//   that came together leave together. Without these rules, the makers of bins may form groups across the groups that
//   wait for them, and lanes in malloc may run at the same time as lanes in free. Then some warps of an H200 do not end
//   (docs/findings.md).
// * As in the paper, waits for units that another thread makes, for locks and for readers have no bound. These waits
//   end. A thread that cannot make its announced units withdraws them. The holder of a node's lock waits only for the
//   lock of the node's parent, and the holder of RCU's mutex only for readers. Readers never wait, and threads with
//   another lock do not wait either.
// * A thread that merges two available halves also waits without bound, for the units of both. This wait ends, because
//   the threads that hold these units use or return them.
//
// As published: An arena does not use slots of another arena, so a malloc may return null while other arenas have free
// slots.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "allocators/bulkalloc/inspect.hpp"
#include "allocators/bulkalloc/parameters.hpp"
#include "allocators/bulkalloc/ualloc.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

class BulkAlloc {
 public:
  using Parameters = bulkalloc::Parameters;
  static constexpr Traits traits{
      .name = "bulkalloc",
      .display_name = "BulkAlloc (reconstruction)",
      .paper = "Gelado & Garland 2019",
      .summary =
          "a bulk semaphore admits a request, then its search succeeds: a buddy tree from 4 KiB on, "
          "bins in an arena per SM below",
      .form = Form::published};

  // Returns the size of the largest block. Its number of pages is the largest power of two that fits into the pool.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return std::bit_floor(pool_bytes / parameters.page_bytes) * parameters.page_bytes;
  }
  // The pool has three chunks of two bins each, with 16 blocks of 16 bytes per bin, and two pages behind them.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 3 * 1024 + 512,
            .parameters = {.page_bytes = 256, .chunk_bytes = 1024, .arenas = 1},
            .serves_new = 96};
  }
  // In this heap, a bin of 16-byte blocks uses two words of its bitmap.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 2 * 4096 + 1024,
            .parameters = {.page_bytes = 1024, .chunk_bytes = 4096, .arenas = 1},
            .serves_new = 384};
  }

  static BulkAlloc create(Arena& arena, const Parameters& parameters);

  void reset(simt::Stream& stream) {
    const bulkalloc::BuddyTree& tree = small_.tree;
    const auto clear = [&](auto* words, std::size_t count) {
      simt::device_fill(stream, words, 0, count * sizeof *words);
    };
    clear(tree.nodes, std::size_t{2} << tree.root_height);
    clear(tree.blocks, tree.root_height + std::size_t{1});
    clear(small_.chunks, small_.arenas);
    clear(small_.readers, small_.arenas);
    clear(small_.lists, std::size_t{small_.arenas} * small_.sizes);
    simt::launch(stream, {1, 32}, bulkalloc::PrepareTree{}, tree);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (limit_.refuses(bytes)) return nullptr;
    const bool small = bytes <= most_small_;
    const std::uint32_t log2 =
        small ? log2_of(static_cast<std::uint32_t>(bytes), bulkalloc::least_size_log2) : height_of(bytes);
    const auto all = thread.converged();
    const auto group = all.match_any(small ? log2 : 32 + log2);
    void* block = nullptr;
    SIMT_ROLLED
    for (simt::LaneMask rest = all.mask(); rest != 0;) {
      const simt::LaneMask turn = all.shfl_lane(group.mask(), simt::count_trailing_zeros(rest));
      if (turn == group.mask()) {
        block = small ? small_.malloc(thread, group, log2) : malloc_pages(thread, group, log2);
      }
      all.sync();
      rest &= ~turn;
    }
    return block;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const bulkalloc::Layout& layout = small_.layout;
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - layout.base);
    const bool small = (offset & ((std::size_t{1} << layout.page_log2) - 1)) != 0;
    const auto all = thread.converged();
    const auto alike = all.partition(small);
    if (small) {
      small_.free(thread, alike, offset);
    } else {
      const auto page = static_cast<std::uint32_t>(offset >> layout.page_log2);
      small_.tree.give(thread, page, thread.atomic(heights_[page]).load(simt::relaxed));
    }
    all.sync();  // lanes that came together continue together
  }

  std::string broken_invariant(simt::Stream& stream) const { return bulkalloc::Inspection(stream, small_).broken(); }

  const bulkalloc::UAlloc& small() const { return small_; }

 private:
  SIMT_HOST_FN std::uint32_t height_of(std::size_t bytes) const {
    return log2_of(static_cast<std::uint32_t>(units_of(bytes, small_.layout.page_log2)), 0);
  }

  template <class Thread, class Group>
  SIMT_FN void* malloc_pages(Thread& thread, const Group& group, std::uint32_t height) {
    const std::uint32_t page = small_.tree.take(thread, group, height);
    if (page == bulkalloc::no_page) return nullptr;
    thread.atomic(heights_[page]).store(height, simt::relaxed);
    return small_.layout.address(page);
  }

  bulkalloc::UAlloc small_;
  std::uint32_t* heights_ = nullptr;  // height of the block in use that begins at each page
  RequestLimit limit_;
  std::uint32_t most_small_ = 0;  // bytes of the largest block of UAlloc
};

inline BulkAlloc BulkAlloc::create(Arena& arena, const Parameters& parameters) {
  parameters.check();
  const std::size_t pages = arena.pool_bytes() / parameters.page_bytes;
  if (arena.pool_bytes() < parameters.chunk_bytes || pages > std::size_t{1} << 26) {
    throw Unsupported("bulkalloc needs a pool of at least a chunk (" + std::to_string(parameters.chunk_bytes) +
                      " bytes) and of at most 2^26 pages of " + std::to_string(parameters.page_bytes) + " bytes");
  }
  BulkAlloc allocator;
  bulkalloc::UAlloc& small = allocator.small_;
  bulkalloc::BuddyTree& tree = small.tree;
  tree.pages = static_cast<std::uint32_t>(pages);
  tree.most_height = static_cast<std::uint32_t>(std::bit_width(pages)) - 1;
  tree.root_height = tree.most_height + (std::has_single_bit(pages) ? 0 : 1);
  tree.nodes = arena.metadata<std::uint32_t>(std::size_t{2} << tree.root_height);
  tree.blocks = arena.metadata<bulkalloc::Semaphore>(tree.root_height + std::size_t{1});
  small.layout.base = arena.pool().base;
  small.layout.page_log2 = simt::count_trailing_zeros(parameters.page_bytes);
  small.layout.chunk_height = simt::count_trailing_zeros(parameters.chunk_bytes) - small.layout.page_log2;
  const std::size_t chunks = arena.pool_bytes() / parameters.chunk_bytes;
  const std::uint32_t sm_count = arena.stream().device().properties().sm_count;
  small.arenas = parameters.arenas != 0 ? parameters.arenas
                                        : static_cast<std::uint32_t>(std::clamp<std::size_t>(chunks / 8, 1, sm_count));
  small.sizes = small.layout.sizes();
  small.chunks = arena.metadata<bulkalloc::ChunkList::State>(small.arenas);
  small.readers = arena.metadata<bulkalloc::Rcu>(small.arenas);
  small.lists = arena.metadata<bulkalloc::BinList::State>(std::size_t{small.arenas} * small.sizes);
  allocator.heights_ = arena.metadata<std::uint32_t>(pages);
  allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
  allocator.most_small_ = 1u << (bulkalloc::least_size_log2 + small.sizes - 1);
  allocator.reset(arena.stream());
  return allocator;
}

}  // namespace allocbench

ALLOCBENCH_REGISTER(bulkalloc, BulkAlloc)
