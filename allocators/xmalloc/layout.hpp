// All forms of XMalloc share this layout: classes of Basicblocks, Superblocks, parents, pieces and the heap over a
// pool.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "allocators/xmalloc/memory_chain.hpp"
#include "allocators/xmalloc/parameters.hpp"

namespace allocbench::xmalloc {

struct BlockClasses {
  static constexpr std::uint32_t classes = 5;
  static constexpr std::uint32_t header_bytes = 16;  // bytes of the header of a Superblock, and of a Basicblock

  std::uint32_t smallest_log2 = 0;
  std::uint32_t blocks_per_superblock = 0;
  std::uint32_t used_classes = classes;  // number of classes whose Superblocks fit the pool
  bool superblocks = true;
  // This is the size in bytes of the two headers of a Superblock in the reworked form: its own and that of the heap
  // below. With each class the room for headers doubles, as the size of Basicblocks does. So two Superblocks
  // exactly fill the gap of a freed one of the next class. In the published form this is 0, because no Superblock
  // is freed.
  std::uint32_t doubling_header_bytes = 0;

  static BlockClasses of(const Parameters& parameters, std::uint32_t doubling_header_bytes = 0) {
    return {static_cast<std::uint32_t>(std::countr_zero(parameters.smallest_block_bytes)),
            parameters.blocks_per_superblock, classes, parameters.superblocks, doubling_header_bytes};
  }
  // Returns `all` with the number of classes that fit the heap below, whose largest request has `largest_request`
  // bytes. A class fits if its Superblock (without Superblocks, its block) is not larger than the largest request.
  // Throws Unsupported if none fits. `name` is the name of the plug-in.
  static BlockClasses that_fit(BlockClasses all, std::size_t largest_request, std::string_view name) {
    all.used_classes = all.count_that_fit(largest_request);
    if (all.used_classes == 0) {
      throw Unsupported(std::string(name) + " needs a pool that holds a Superblock of its smallest blocks, " +
                        std::to_string(all.superblock_bytes(0)) + " bytes");
    }
    return all;
  }

  // Returns how many classes a heap can serve: classes of Superblocks, or of blocks if there are no Superblocks.
  std::uint32_t count_that_fit(std::size_t largest_request) const {
    std::uint32_t count = 0;
    while (count < classes && (superblocks ? superblock_bytes(count) : block_bytes(count)) <= largest_request) ++count;
    return count;
  }

  SIMT_HOST_FN std::uint32_t block_bytes(std::uint32_t size_class) const { return 1u << (smallest_log2 + size_class); }
  SIMT_HOST_FN std::uint32_t largest_payload() const { return block_bytes(used_classes - 1) - header_bytes; }
  SIMT_HOST_FN std::size_t superblock_bytes(std::uint32_t size_class) const {
    const std::size_t spare = std::size_t{(1u << size_class) - 1} * doubling_header_bytes;
    return header_bytes + std::size_t{blocks_per_superblock} * block_bytes(size_class) + spare;
  }
  SIMT_FN std::uint32_t class_of(std::uint32_t bytes) const {
    return log2_of(bytes + header_bytes, smallest_log2) - smallest_log2;
  }
};

// Returns the largest possible request, or 0 if the pool is too small for any class. If the pool has no room for the
// Superblock of a class, the heap below serves the requests of this class.
template <class Memory>
std::size_t max_request_over(std::size_t pool_bytes, const BlockClasses& all) {
  const std::size_t largest = Memory::largest_request(pool_bytes);
  return all.count_that_fit(largest) == 0 ? 0 : largest;
}

// Returns a power of two that is at least `least` and at least the number of Superblocks that the pool can hold.
inline std::uint32_t most_superblocks(std::size_t pool_bytes, const Parameters& parameters, std::uint32_t least) {
  const std::size_t most = pool_bytes / (parameters.smallest_block_bytes * parameters.blocks_per_superblock) + 1;
  if (most > std::size_t{1} << 30) {
    throw Unsupported(
        "the pool has room for more than 2^30 Superblocks: use a smaller pool or larger smallest_block_bytes");
  }
  return std::max(std::bit_ceil(static_cast<std::uint32_t>(most)), least);
}

// A block that the lanes of a warp share is a parent. It begins with the count of its live pieces (the paper's
// Coalescingblocks), and a tag precedes each piece.
inline constexpr std::uint32_t parent_header_bytes = 16;
inline constexpr std::uint32_t piece_header_bytes = 16;

SIMT_FN std::uint32_t& live_pieces(std::byte* parent) { return *reinterpret_cast<std::uint32_t*>(parent); }

// Makes a heap of Memoryblocks over the whole pool.
template <class Heap>
Heap heap_over_pool(Arena& arena, std::string_view name) {
  const Pool pool = arena.pool();
  const std::size_t units = pool.bytes / unit_bytes;
  if (units > UINT32_MAX) throw Unsupported(std::string(name) + " serves pools below 64 GiB");
  return {pool.base, static_cast<std::uint32_t>(units), arena.metadata<typename Heap::Control>(1)};
}

}  // namespace allocbench::xmalloc
