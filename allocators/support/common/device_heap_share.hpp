// DeviceHeapShare is the part of the memory that is left to the back end's device heap, for requests that a design does
// not serve itself.
//
// Guard: CUDA's malloc overflows for the largest requests. On an H100, malloc(2^64 - 1) returns a small live block. So
// the share refuses requests above its size (request.hpp).
//
// Largest request: The device heap consists of large segments, and each block is inside one segment. On an H100, with
// 60 heap sizes from 4 MiB to 16 GiB, the largest block had between 0.52 and 1 times the size of the heap. The share
// promises 7/16 of its size.
//
// Reset: A process cannot reset the device heap, so the share stores its live blocks and reset() frees them. Afterwards
// the device heap may divide its memory differently than in a new process.
//
// Data: a hash table of addresses, at most half full. An entry of 0 is unused. A compare-exchange stores an address in
// the first unused entry, beginning with that of its hash, and the address never moves. A free searches from the same
// entry and stores 0. Only the owner of a block removes its address, so there is no ABA. The entries pass no data to
// other threads, so the operations are relaxed. Requests that the design serves itself do not use the table. Without
// collisions in the table, a large request costs two atomic operations besides the device heap: one on the entry and
// one on the number of live blocks. The free of the block costs a load, a store and an atomic operation.
#pragma once

#include <algorithm>
#include <bit>

#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// Returns the size of the largest request that the share promises to serve from a new device heap of this size (see
// above). The heap may serve larger ones.
inline std::size_t largest_in_device_heap(std::size_t heap_bytes) { return heap_bytes / 16 * 7; }

// Frees all blocks of the table. A table without blocks is not read, because it may exceed the L2 cache, and the next
// kernel would then start with a cold cache.
struct FreeAllBlocks {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* blocks, std::uint32_t entries, std::uint64_t* live) const {
    if (thread.atomic(*live).load(simt::relaxed) == 0) return;
    for (std::uint32_t i = thread.rank_in_grid(); i < entries; i += thread.grid_size()) {
      const std::uint64_t address = thread.atomic(blocks[i]).load(simt::relaxed);
      if (address == 0) continue;
      thread.atomic(blocks[i]).store(0, simt::relaxed);
      thread.device_heap().free(reinterpret_cast<void*>(address));
    }
  }
};

class DeviceHeapShare {
 public:
  // Makes a share for requests above `smallest_request` bytes. A share of 0 bytes serves nothing.
  static DeviceHeapShare create(Arena& arena, std::size_t share_bytes, std::size_t smallest_request) {
    DeviceHeapShare share;
    share.limit_.bytes = share_bytes;
    if (share_bytes == 0) return share;
    // The runtime may grant more than requested: at least 4 MiB on an H100.
    const std::size_t heap_bytes = std::max(share_bytes, least_heap_bytes);
    const std::uint64_t blocks_at_most = heap_bytes / (smallest_request + 1) + 1;
    const std::uint64_t entries = std::bit_ceil(2 * blocks_at_most);
    if (entries > std::uint64_t{1} << 31) {
      throw Unsupported("the device heap has room for more than 2^30 blocks: use a smaller pool");
    }
    share.mask_ = static_cast<std::uint32_t>(entries) - 1;
    share.blocks_ = arena.metadata<std::uint64_t>(entries);
    share.live_ = arena.metadata<std::uint64_t>(1);
    return share;
  }

  bool serves() const { return limit_.bytes != 0; }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) const {
    if (limit_.refuses(bytes)) return nullptr;
    void* const block = thread.device_heap().malloc(bytes);
    if (block == nullptr) return nullptr;
    const auto address = reinterpret_cast<std::uint64_t>(block);
    for (std::uint32_t i = hash(address), looks = 0; looks <= mask_; i = next(i), ++looks) {
      std::uint64_t unused = 0;
      if (thread.atomic(blocks_[i]).compare_exchange(unused, address, simt::relaxed, simt::relaxed)) {
        thread.atomic(*live_).fetch_add(std::uint64_t{1}, simt::relaxed);
        return block;
      }
      thread.probe(simt::Step::retry);
    }
    thread.device_heap().free(block);
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) const {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (limit_.bytes == 0) return;
    for (std::uint32_t i = hash(address), looks = 0; looks <= mask_; i = next(i), ++looks) {
      const auto entry = thread.atomic(blocks_[i]);
      if (entry.load(simt::relaxed) != address) continue;
      // The address is removed before the block is freed, because the block's next owner stores it again.
      entry.store(0, simt::relaxed);
      thread.atomic(*live_).fetch_sub(std::uint64_t{1}, simt::relaxed);
      thread.device_heap().free(block);
      return;
    }
  }

  // Frees all blocks. May return before the stream has finished.
  void reset(simt::Stream& stream) const {
    if (!serves()) return;
    constexpr std::uint32_t threads = 128;
    simt::launch(stream, {std::min(mask_ / threads + 1, 4096u), threads}, FreeAllBlocks{}, blocks_, mask_ + 1, live_);
    simt::device_fill(stream, live_, 0, sizeof *live_);
  }

 private:
  static constexpr std::size_t least_heap_bytes = std::size_t{4} << 20;

  SIMT_FN std::uint32_t hash(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address >> 4) * 0x9e3779b97f4a7c15u >> 32) & mask_;
  }
  SIMT_FN std::uint32_t next(std::uint32_t entry) const { return (entry + 1) & mask_; }

  RequestLimit limit_;
  std::uint64_t* blocks_ = nullptr;
  std::uint64_t* live_ = nullptr;  // number of blocks in the table
  std::uint32_t mask_ = 0;
};

}  // namespace allocbench
