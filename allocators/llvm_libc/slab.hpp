// A slab of LLVM libc's GPU malloc has 16 bytes of header, one bit per chunk, and chunks of one size.
//
// llvm-project, libc/src/__support/GPU/allocator.cpp (2026). A set bit means that the chunk is in use. The words of
// bits are rounded up to 128 bytes, which is two destructive-interference sizes of the compiler. In slabs below 64 KiB,
// which are meant for the bug search and tests, the words are rounded up to 16 bytes.
//
// An empty slab keeps its chunk size in the header for its next use. All bits of an empty slab are zero. The next use
// clears bits only if its chunks are smaller and so need more words of bits.
//
// Memory orders of the bits: In the published form the operations on bits are relaxed. So nothing orders the last
// accesses of an owner of a chunk before the first accesses of the next owner, if the next owner already had its
// reservation (docs/findings.md). In the fixed form, clearing a bit releases and setting it acquires.
#pragma once

#include "allocators/support/common/bit_orders.hpp"

namespace allocbench::llvm_libc {

struct SlabHeader {
  std::uint32_t chunk_bytes;
  std::uint32_t slot;  // slot of the table
  std::uint32_t previous_chunk_bytes;
  std::uint32_t unused;

  static constexpr std::uint32_t never_used = 0xffffffffu;
};
static_assert(sizeof(SlabHeader) == 16);

// ChunkSizeAndSlot is the part of the header that free() needs. One load reads this part.
struct ChunkSizeAndSlot {
  std::uint64_t word;

  SIMT_FN static ChunkSizeAndSlot of(std::uint32_t chunk_bytes, std::uint32_t slot) {
    return {std::uint64_t{slot} << 32 | chunk_bytes};
  }
  SIMT_FN std::uint32_t chunk_bytes() const { return static_cast<std::uint32_t>(word); }
  SIMT_FN std::uint32_t slot() const { return static_cast<std::uint32_t>(word >> 32); }
};

// SlabLayout is the division of a slab into chunks.
struct SlabLayout {
  std::uint32_t bytes_log2 = 21;

  SIMT_HOST_FN std::uint32_t bytes() const { return 1u << bytes_log2; }
  SIMT_HOST_FN std::uint32_t words(std::uint32_t chunk) const { return ((bytes() + chunk - 1) / chunk + 31) / 32; }
  // Returns the offset of the first chunk in the slab.
  SIMT_HOST_FN std::uint32_t begin(std::uint32_t chunk) const {
    const std::uint32_t unit = bytes_log2 < 16 ? 16u : 128u;
    return static_cast<std::uint32_t>(sizeof(SlabHeader)) + simt::round_up(words(chunk) * 4, unit);
  }
  SIMT_HOST_FN std::uint32_t chunks(std::uint32_t chunk) const { return (bytes() - begin(chunk)) / chunk; }
};

struct Slab {
  std::byte* base;

  SIMT_FN std::uint64_t& size_and_slot() const { return *reinterpret_cast<std::uint64_t*>(base); }
  SIMT_FN std::uint32_t& chunk_bytes() const { return reinterpret_cast<SlabHeader*>(base)->chunk_bytes; }
  SIMT_FN std::uint32_t& previous() const { return reinterpret_cast<SlabHeader*>(base)->previous_chunk_bytes; }
  SIMT_FN std::uint32_t& bits(std::uint32_t chunk) const {
    return reinterpret_cast<std::uint32_t*>(base + sizeof(SlabHeader))[chunk / 32];
  }

  // Clears the first `words` words of bits. The lanes that make the slab call this function together.
  template <class Thread, class Group>
  SIMT_FN void clear_bits(Thread& thread, const Group& group, std::uint32_t words) const {
    for (std::uint32_t i = group.thread_rank(); i < words; i += group.num_threads()) {
      thread.atomic(bits(32 * i)).store(0u, simt::relaxed);
    }
  }

  // Takes one chunk for each lane of the group. The group has one reservation per lane, so a clear bit exists for each.
  // `start` is the group's first reservation. In a slab without frees, it is the first clear bit.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take_chunk(Thread& thread, const Group& group, std::uint32_t start, std::uint32_t chunks,
                                   BitOrders orders) const {
    auto seekers = group;
    std::uint32_t random = 0;
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t rank = seekers.thread_rank();
      const std::uint32_t wanted = (start + rank) % chunks;
      // Lanes whose bits are neighbours in one word form a run. The first lane of a run sets the bits of all its lanes.
      const simt::LaneMask firsts = seekers.ballot(rank == 0 || wanted % 32 == 0);
      const std::uint32_t first = 31 - simt::count_leading_zeros(firsts & lanes_up_to(thread.lane()));
      std::uint32_t before = 0;
      if (first == thread.lane()) {
        const std::uint32_t length = seekers.num_threads() - rank;
        const std::uint32_t run = (length >= 32 ? 0xffffffffu : (1u << length) - 1) << wanted % 32;
        const auto word = thread.atomic(bits(wanted));
        thread.probe(simt::Step::attempt);
        before = orders.setting([&](auto order) { return word.fetch_or(run, order); });
      }
      before = seekers.shfl_lane(before, first);
      if (orders.setting_acquires) seekers.sync();  // the first lane's acquire covers its run
      const bool lost = (before >> wanted % 32 & 1) != 0;
      const simt::LaneMask losers = seekers.ballot(lost);
      if (losers == 0) return wanted;
      // The losers continue at the lowest clear bit that the first loser saw, or in a random word if it saw none.
      const std::uint32_t leader = simt::count_trailing_zeros(losers);
      const std::uint32_t seen = seekers.shfl_lane(before, leader);
      const std::uint32_t word = seekers.shfl_lane(wanted / 32, leader);
      if (random == 0) {
        random =
            seekers.broadcast(static_cast<std::uint32_t>(thread.clock()) * 0x9e3779b1u + thread.rank_in_grid()) | 1;
      }
      seekers = seekers.partition(lost);
      if (!lost) return wanted;
      thread.probe(simt::Step::retry);
      if (seen != 0xffffffffu) {
        start = word * 32 + simt::count_trailing_zeros(~seen);
      } else {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        start = random % ((chunks + 31) / 32) * 32;
        thread.spin_hint();
      }
    }
  }

  template <class Thread>
  SIMT_FN void give_chunk(Thread& thread, std::uint32_t chunk, BitOrders orders) const {
    const auto word = thread.atomic(bits(chunk));
    const std::uint32_t others = ~(1u << chunk % 32);
    orders.clearing([&](auto order) { return word.fetch_and(others, order); });
  }

 private:
  SIMT_FN static simt::LaneMask lanes_up_to(std::uint32_t lane) { return 0xffffffffu >> (31 - lane); }
};

}  // namespace allocbench::llvm_libc
