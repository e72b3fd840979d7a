// XMalloc serves small requests of a warp as one, from buffered blocks over a slow heap. This is the published form.
//
// Paper: Huang, Rodrigues, Jones, Buck & Hwu, "XMalloc: A Scalable Lock-free Dynamic Memory Allocator for Many-core
// Machines", CIT 2010. In the later form (Journal of Supercomputing 2013, public code), the device heap serves
// Superblocks and large requests. Both forms are registered. Where the paper gives no detail, this form follows the
// public code.
//
// Idea:
// * malloc: The lanes of a warp add up their sizes by a prefix sum. One of them gets a Basicblock for all, and the
//   lanes divide it into Coalescingblocks. Basicblocks come from free lists. Superblocks fill the free lists and are
//   cut from Memoryblocks. Loops of compare-exchanges change every buffer.
// * free: Each lane reads the type tag in front of its block. For a Coalescingblock, it decrements the parent's count,
//   and the last lane frees the parent. A Basicblock returns to a free list or to its Superblock. A Memoryblock merges
//   with its free neighbours.
// * With `coalescing` off, every lane runs the compare-exchange loops itself. This is the "SIMD-oblivious" baseline of
//   figure 2.
//
// Data: Coalescingblock < Basicblock < Superblock < Memoryblock (each lies inside the next), each with a header in
// front (block_buffers.hpp, memory_chain.hpp); FIFOs (compare_exchange_fifo.hpp). The first word of a parent counts its
// live Coalescingblocks.
//
// Differs from the paper:
// * Headers and the alignment have 16 bytes (public code: 4 bytes for the header of a Coalescingblock, 8 for that of a
//   Basicblock and for the alignment). With the default sizes, if each lane of a full warp requests 225 bytes or more
//   (public code: 245), their sum exceeds the largest Basicblock and goes to the heap below.
// * Requests below `coalescing_limit_bytes` coalesce (public code: 256 bytes; the paper has no limit). Lanes form their
//   group once at entry and add up by shuffles. In the public code they share a counter without a barrier.
// * A lock guards the Memoryblocks, because the paper has no concurrent protocol (memoryblock_list.hpp).
// * Basicblocks whose Superblocks do not fit the pool are not used. Requests for them go to the heap below.
// * The public code contains only the later form, so its times are comparable only with those of xmalloc_device_heap.
//   For requests that exceed the largest Basicblock (8,176 bytes by default), xmalloc_device_heap uses the device heap,
//   lane by lane; xmalloc takes its Memoryblocks one after the other under the lock.
// * malloc returns null if the heap below has no room (block_buffers.hpp). Pushes and pops release and acquire.
// * A FIFO reaches 32 GiB to both sides of its origin, so pools of xmalloc are smaller than 64 GiB (public code: 32
//   GiB).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "allocators/support/contract/allocator.hpp"
#include "allocators/xmalloc/inspect_published.hpp"
#include "allocators/xmalloc/memoryblock.hpp"
#include "allocators/xmalloc/memoryblock_list.hpp"
#include "allocators/xmalloc/parameters.hpp"

namespace allocbench {
namespace xmalloc {

template <class Memory>
struct InitialiseBuffers {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BlockBuffers<Memory> buffers) const {
    const std::uint32_t rank = thread.rank_in_grid();
    const std::uint32_t count = thread.grid_size();
    for (std::uint32_t c = 0; c < buffers.classes; ++c) {
      for (std::uint32_t list = 0; list < buffers.lists; ++list) {
        buffers.free_list(c, list).initialise(thread, rank, count);
      }
      buffers.superblock_buffer(c).initialise(thread, rank, count);
    }
    if (rank != 0) return;
    if constexpr (requires { buffers.memory.base(); }) {
      buffers.memory.initialise(thread);
      *buffers.origin =
          const_cast<std::byte*>(buffers.memory.base()) + (std::size_t{buffers.memory.end()} / 2) * unit_bytes;
    } else {
      // The origin is any address of the device heap, or 0 if the heap has no room at all.
      std::byte* const probe = buffers.memory.malloc(thread, unit_bytes);
      *buffers.origin = probe;
      if (probe != nullptr) buffers.memory.free(thread, probe);
    }
  }
};

template <class Memory, class ParametersOf>
class PublishedOf {
 public:
  using Parameters = ParametersOf;

  // Requests of a class whose Superblocks do not fit the pool are served as large requests.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return max_request_over<Memory>(pool_bytes, BlockClasses::of(parameters));
  }
  // Superblocks never return to the heap, so the memory of one size never serves another. The shared block of a warp is
  // larger than the block of a single lane, so equal requests may need blocks of two sizes.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.smallest_block_bytes = 128;
    parameters.blocks_per_superblock = 4;
    parameters.free_lists = 2;
    parameters.free_list_capacity = 4;
    return {.pool_bytes = 16 << 10, .parameters = parameters, .serves_again = 0, .serves_other_sizes = 0};
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const bool eligible = coalescing_ && bytes != 0 && bytes < coalescing_limit_;
    const auto group = thread.converged().partition(eligible);
    const bool together = eligible && group.num_threads() > 1;
    std::uint32_t offset = 0;
    std::size_t request = bytes;
    if (together) {
      const std::uint32_t piece =
          piece_header_bytes + units_of(static_cast<std::uint32_t>(bytes), unit_log2) * unit_bytes;
      offset = group.exclusive_sum(piece);
      request = parent_header_bytes + group.reduce_add(piece);
    }
    std::byte* block = nullptr;
    if (!together || group.leader()) {
      block = request <= buffers_.largest_payload() ? buffers_.malloc_basic(thread, static_cast<std::uint32_t>(request))
                                                    : buffers_.malloc_memory(thread, request);
      if (together && block != nullptr) thread.atomic(live_pieces(block)).store(group.num_threads(), simt::relaxed);
    }
    if (!together) return block;
    block = reinterpret_cast<std::byte*>(group.broadcast(reinterpret_cast<std::uint64_t>(block)));
    group.sync();  // the leader's acquire and writes are visible to all lanes
    if (block == nullptr) return nullptr;
    const std::uint32_t place = parent_header_bytes + offset + piece_header_bytes;
    Tag::of_piece(place / unit_bytes).write(thread, block + place);
    return block + place;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    auto* memory = static_cast<std::byte*>(block);
    Tag tag = Tag::read(thread, memory);
    if (tag.type() == Tag::piece) {
      Tag{Tag::untyped}.write(thread, memory);
      memory -= std::size_t{tag.units()} * unit_bytes;
      if (thread.atomic(live_pieces(memory)).fetch_sub(1u, simt::acq_rel) != 1) return;
      tag = Tag::read(thread, memory);
    }
    buffers_.free(thread, memory, tag);
  }

  // Returns an empty text if the invariants of inspect_published.hpp hold. Call this function while no kernel runs.
  std::string broken_invariant(simt::Stream& stream) const {
    simt::Buffer<std::uint32_t> broken(1);
    simt::launch(stream, {1, 1}, InspectBuffers{}, buffers_, broken.data());
    return text_of(static_cast<Broken>(broken.to_host(stream).front()));
  }

 protected:
  // Lays out the heap. `name` is the name of the plug-in, for error messages.
  static PublishedOf lay_out(Arena& arena, const Parameters& parameters, const Memory& memory, std::string_view name) {
    PublishedOf allocator;
    BlockBuffers<Memory>& buffers = allocator.buffers_;
    static_cast<BlockClasses&>(buffers) =
        BlockClasses::that_fit(BlockClasses::of(parameters), Memory::largest_request(arena.pool_bytes()), name);
    buffers.memory = memory;
    buffers.retry_limit = parameters.retry_limit;
    buffers.lists = parameters.free_lists;
    buffers.list_capacity = parameters.free_list_capacity;
    buffers.superblock_capacity = most_superblocks(arena.pool_bytes(), parameters, 256);
    buffers.words = arena.metadata<std::uint64_t>(buffers.words_of_fifos());
    buffers.origin = arena.metadata<std::byte*>(1);
    allocator.coalescing_ = parameters.coalescing;
    allocator.coalescing_limit_ = static_cast<std::uint32_t>(parameters.coalescing_limit_bytes);
    allocator.initialise(arena.stream());
    return allocator;
  }

  void initialise(simt::Stream& stream) {
    constexpr std::uint32_t threads = 256;
    const std::size_t wanted = (buffers_.words_of_fifos() + threads - 1) / threads;
    const auto blocks = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, 1024));
    simt::launch(stream, {blocks, threads}, InitialiseBuffers<Memory>{}, buffers_);
  }

 private:
  BlockBuffers<Memory> buffers_;
  std::uint32_t coalescing_limit_ = 0;
  bool coalescing_ = true;
};

}  // namespace xmalloc

struct XMalloc : xmalloc::PublishedOf<xmalloc::MemoryblockList, xmalloc::PublishedParameters> {
  static constexpr Traits traits{
      .name = "xmalloc",
      .display_name = "XMalloc",
      .paper = "Huang et al. 2010",
      .summary = "one block per warp, divided among its lanes; FIFO buffers over a heap of Memoryblocks",
      .form = Form::published};
  static XMalloc create(Arena& arena, const Parameters& parameters) {
    const auto heap = xmalloc::heap_over_pool<xmalloc::MemoryblockList>(arena, traits.name);
    return {lay_out(arena, parameters, heap, traits.name)};
  }
  void reset(simt::Stream& stream) { initialise(stream); }
};

struct XMallocDeviceHeap : xmalloc::PublishedOf<xmalloc::DeviceHeapMemory, xmalloc::DeviceHeapParameters> {
  static constexpr Traits traits{.name = "xmalloc_device_heap",
                                 .display_name = "XMalloc (device heap)",
                                 .paper = "Huang et al. 2010 and 2013",
                                 .summary = "the later form: Superblocks and large requests come from the device heap",
                                 .form = Form::published,
                                 .pool = PoolLocation::device_heap,
                                 .fresh = Fresh::by_process,
                                 .keeps_device_heap = true};
  static XMallocDeviceHeap create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, xmalloc::DeviceHeapMemory(arena.pool_bytes()), traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(xmalloc, XMalloc, XMallocDeviceHeap)
