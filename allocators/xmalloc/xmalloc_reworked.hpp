// The reworked XMalloc serves the small requests of a warp as one, from buffered blocks over a slow heap. xmalloc.hpp
// has the published form.
//
// Paper: Huang, Rodrigues, Jones, Buck & Hwu, "XMalloc: A Scalable Lock-free Dynamic Memory Allocator for Many-core
// Machines", CIT 2010. In the later form (Journal of Supercomputing 2013), the device heap serves Superblocks and large
// requests. Both forms are registered.
//
// Idea:
// * malloc: The lanes of a warp add up their sizes by a prefix sum. One of them gets a Basicblock for all, and the
//   lanes divide it into Coalescingblocks. A Basicblock comes from a free list, else from a Superblock of the
//   second-level buffer, else from a new Superblock cut from a Memoryblock.
// * free: Each lane reads the type tag in front of its block. For a Coalescingblock, it decrements the parent's count,
//   and the last lane frees the parent. A Basicblock returns to a free list or to its Superblock. A Memoryblock is kept
//   for requests of its size or merges with its free neighbours.
//
// Data: Coalescingblock < Basicblock < Superblock < Memoryblock (each lies inside the next), each with a header in
// front (superblock.hpp, memoryblock.hpp); buffers are FIFOs (fifo.hpp). The named files state the protocols. The first
// word of a parent counts its live Coalescingblocks. The leader writes this count before it broadcasts the parent's
// address to the warp. Frees decrement the count with acq_rel, so that the last lane frees after the last writes of all
// owners.
//
// In comparison with the published form (xmalloc.hpp):
// * Additions move the counters of FIFOs; OR and exchange change the masks of Superblocks (fifo.hpp, superblock.hpp).
//   In the published form, only one compare-exchange of a word succeeds per round trip.
// * Lanes that free Coalescingblocks of one parent together make one subtraction from its count. Lanes that find no
//   free Basicblock refill together.
// * A group whose sum exceeds the largest Basicblock is halved; the published form uses the heap instead. If no
//   Basicblock is left for a sum, each lane requests its own block, because smaller blocks may be free.
// * Memoryblocks: One lane takes the lock for its warp. Lists hold the blocks by size. Neighbouring blocks that a warp
//   frees together are freed as one (memoryblock.hpp).
// * Freed blocks that are larger than the largest Basicblock, but normally less than 32 times as large, are kept
//   (kept_blocks.hpp).
// * A Superblock is twice as large as one of the class below, headers included (layout.hpp). So two smaller Superblocks
//   fill the gap that a larger one leaves. With the sizes of the published form, only one would fit into this gap.
// * If memory is short, entirely free Superblocks return to the heap before malloc returns null (reclaim() in
//   superblock.hpp). In the published form, Superblocks never return.
// * As in our published form, headers and the alignment have 16 bytes, and lanes form their group once at entry and add
//   up by shuffles. Basicblocks whose Superblocks do not fit the pool are not used. Requests for them go to the heap
//   below.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "allocators/xmalloc/inspect.hpp"
#include "allocators/xmalloc/parameters.hpp"
#include "allocators/xmalloc/superblock.hpp"

namespace allocbench {
namespace xmalloc {

template <class Memory>
struct Initialise {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BlockStore<Memory> store) const {
    const std::uint32_t rank = thread.rank_in_grid();
    const std::uint32_t count = thread.grid_size();
    for (std::uint32_t c = 0; c < Buffers::classes; ++c) {
      for (std::uint32_t list = 0; list < store.buffers.lists; ++list) {
        store.buffers.free_list(c, list).initialise(thread, rank, count);
      }
      store.buffers.superblocks(c).initialise(thread, rank, count);
    }
    if (store.kept.counters != nullptr) {
      for (std::uint32_t s = 0; s < KeptBlocks::sizes; ++s) store.kept.fifo(s).initialise(thread, rank, count);
    }
    if (rank != 0) return;
    if (store.kept.counters != nullptr) thread.atomic(*store.kept.count).store(0, simt::relaxed);
    thread.atomic(*store.reclaiming).store(0, simt::relaxed);
    thread.atomic(*store.created).store(0, simt::relaxed);
    thread.atomic(*store.refills).store(0, simt::relaxed);
    if constexpr (requires { store.memory.initialise(thread); }) store.memory.initialise(thread);
  }
};

template <class Memory>
class XMallocOf {
 public:
  using Parameters = xmalloc::Parameters;

  // Requests of a class whose Superblocks do not fit the pool are served as large requests.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return max_request_over<Memory>(pool_bytes, classes_of(parameters));
  }
  // This is the small heap of the bug search. After blocks of several sizes have been freed, a size may get only 90 %
  // of the blocks that it gets from a fresh heap. A Superblock can lie directly after a block that is larger than any
  // Basicblock, so Superblocks can leave a gap that is too small for one more Superblock.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 16 << 10,
            .parameters = {.smallest_block_bytes = 128,
                           .blocks_per_superblock = 4,
                           .free_lists = 2,
                           .free_list_capacity = 4},
            .serves_other_sizes = 0.9};
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (coalescing_ && bytes != 0 && bytes < coalescing_limit_) {
      const std::uint32_t piece =
          piece_header_bytes + units_of(static_cast<std::uint32_t>(bytes), unit_log2) * unit_bytes;
      for (auto group = thread.converged(); group.num_threads() > 1;) {
        const std::uint32_t offset = group.exclusive_sum(piece);
        const std::uint32_t total = group.reduce_add(piece);
        if (parent_header_bytes + total <= store_.largest_payload()) {
          std::byte* const block = coalesced(thread, group, offset, total);
          if (block != nullptr) return block;
          break;
        }
        // The last lane always belongs to the second half. Otherwise the loop could never separate one small and one
        // large piece.
        group = group.partition(2 * offset >= total || group.thread_rank() + 1 == group.num_threads());
      }
    }
    return bytes <= store_.largest_payload() ? store_.malloc_basic(thread, static_cast<std::uint32_t>(bytes))
                                             : store_.malloc_memory(thread, bytes);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    auto* memory = static_cast<std::byte*>(block);
    Tag tag = Tag::read(thread, memory);
    if (tag.type() == Tag::piece) {
      memory -= std::size_t{tag.units()} * unit_bytes;
      const auto group = thread.converged().match_any(reinterpret_cast<std::uint64_t>(memory));
      group.sync();  // the last writes of all lanes come before the leader's release
      if (!group.leader()) return;
      const std::uint32_t pieces = group.num_threads();
      if (thread.atomic(live_pieces(memory)).fetch_sub(pieces, simt::acq_rel) != pieces) return;
      tag = Tag::read(thread, memory);
    }
    store_.free(thread, memory, tag);
  }

  // Returns an empty text if the invariants of inspect.hpp hold. Call this function while no kernel runs.
  std::string broken_invariant(simt::Stream& stream) const {
    simt::Buffer<std::uint32_t> broken(1);
    simt::launch(stream, {1, 1}, Inspect{}, store_, broken.data());
    return text_of(static_cast<Broken>(broken.to_host(stream).front()));
  }

  // Returns the number of Superblocks that exist. Tests use it.
  std::uint32_t superblocks(simt::Stream& stream) const {
    std::uint32_t count = 0;
    simt::copy_to_host(stream, &count, store_.created, sizeof count);
    return count;
  }

 protected:
  // Lays out the heap. `name` is the name of the plug-in, for error messages.
  static XMallocOf lay_out(Arena& arena, const Parameters& parameters, const Memory& memory, std::string_view name) {
    XMallocOf allocator;
    BlockStore<Memory>& store = allocator.store_;
    static_cast<BlockClasses&>(store) =
        BlockClasses::that_fit(classes_of(parameters), Memory::largest_request(arena.pool_bytes()), name);
    store.memory = memory;
    store.buffers.lists = parameters.free_lists;
    store.buffers.list_capacity = parameters.free_list_capacity;
    // The Superblock buffers have room for all Superblocks, so they refuse no push.
    store.buffers.superblock_capacity = most_superblocks(arena.pool_bytes(), parameters, 1u << Buffers::classes);
    store.buffers.counters = arena.metadata<FifoCounters>(store.buffers.fifos());
    store.buffers.slots = arena.metadata<FifoSlot>(store.buffers.slot_count());
    if (parameters.superblocks) {
      store.kept = KeptBlocks::above(store.largest_payload(), arena.pool_bytes());
      store.kept.counters = arena.metadata<FifoCounters>(KeptBlocks::sizes);
      store.kept.slots = arena.metadata<FifoSlot>(store.kept.slot_count());
      store.kept.count = arena.metadata<std::uint32_t>(1);
    }
    store.reclaiming = arena.metadata<std::uint32_t>(1);
    store.created = arena.metadata<std::uint32_t>(1);
    store.refills = arena.metadata<std::uint32_t>(1);
    allocator.coalescing_ = parameters.coalescing;
    allocator.coalescing_limit_ = static_cast<std::uint32_t>(parameters.coalescing_limit_bytes);
    allocator.initialise(arena.stream());
    return allocator;
  }

  void initialise(simt::Stream& stream) {
    constexpr std::uint32_t threads = 256;
    const std::size_t wanted = (store_.buffers.slot_count() + store_.kept.slot_count() + threads - 1) / threads;
    const auto blocks = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, 1024));
    simt::launch(stream, {blocks, threads}, Initialise<Memory>{}, store_);
  }

 private:
  static BlockClasses classes_of(const Parameters& parameters) {
    return BlockClasses::of(parameters, BlockClasses::header_bytes + Memory::header_bytes);
  }

  template <class Thread, class Group>
  SIMT_FN std::byte* coalesced(Thread& thread, const Group& group, std::uint32_t offset, std::uint32_t total) const {
    std::byte* parent = nullptr;
    if (group.leader()) {
      parent = store_.malloc_basic(thread, parent_header_bytes + total);
      if (parent != nullptr) thread.atomic(live_pieces(parent)).store(group.num_threads(), simt::relaxed);
    }
    parent = reinterpret_cast<std::byte*>(group.broadcast(reinterpret_cast<std::uint64_t>(parent)));
    group.sync();  // the leader's acquire and writes are visible to all lanes
    if (parent == nullptr) return nullptr;
    const std::uint32_t place = parent_header_bytes + offset + piece_header_bytes;
    Tag::of_piece(place / unit_bytes).write(thread, parent + place);
    return parent + place;
  }

  BlockStore<Memory> store_;
  std::uint32_t coalescing_limit_ = 0;
  bool coalescing_ = true;
};

}  // namespace xmalloc

struct XMallocReworked : xmalloc::XMallocOf<xmalloc::MemoryblockHeap> {
  static constexpr Traits traits{
      .name = "xmalloc_reworked",
      .display_name = "XMalloc, reworked",
      .paper = "Huang et al. 2010",
      .summary = "one block per warp, divided among its lanes; FIFO buffers over a heap of Memoryblocks",
      .form = Form::reworked};
  static XMallocReworked create(Arena& arena, const Parameters& parameters) {
    const auto heap = xmalloc::heap_over_pool<xmalloc::MemoryblockHeap>(arena, traits.name);
    return {lay_out(arena, parameters, heap, traits.name)};
  }
  void reset(simt::Stream& stream) { initialise(stream); }
};

struct XMallocDeviceHeapReworked : xmalloc::XMallocOf<xmalloc::DeviceHeapMemory> {
  static constexpr Traits traits{.name = "xmalloc_device_heap_reworked",
                                 .display_name = "XMalloc (device heap), reworked",
                                 .paper = "Huang et al. 2010 and 2013",
                                 .summary = "the later form: Superblocks and large requests come from the device heap",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::device_heap,
                                 .fresh = Fresh::by_process,
                                 .keeps_device_heap = true};
  static XMallocDeviceHeapReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, xmalloc::DeviceHeapMemory(arena.pool_bytes()), traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(xmalloc_reworked, XMallocReworked, XMallocDeviceHeapReworked)
