// Superblocks of Kokkos::MemoryPool have a state word and bits for the blocks in use.
//
// Kokkos 28848df (2025), Kokkos_MemoryPool.hpp and impl/Kokkos_ConcurrentBitset.hpp.
//
// Bits 0-25 of the state word count the blocks in use and the unfinished claims, even those that will fail. Bits 26-30
// have log2 of the number of blocks, which gives their size. Bits 26-30 change only while the count is zero. The bits
// of the blocks follow in the same array: one for each block of the smallest size, in words of 32 bits.
//
// Protocol: A claim raises the count before it searches for a bit, and a free lowers the count after it has cleared the
// bit. So a claim finds a clear bit if its addition keeps the count within the number of blocks. All changes of the
// state word are read-modify-writes. A claim that finds another size or a full superblock undoes its addition.
//
// Orders: In Kokkos, the atomics are relaxed, with a full fence between accesses to the two words. Here a free releases
// when it clears the bit and lowers the count, and a claim acquires when it raises the count and sets a bit.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::kokkos {

inline constexpr std::uint32_t no_block = 0xffffffffu;

struct SuperblockState {
  static constexpr std::uint32_t size_shift = 26;
  static constexpr std::uint32_t used_mask = (1u << size_shift) - 1;

  std::uint32_t word;

  SIMT_HOST_FN static SuperblockState empty(std::uint32_t blocks_log2) { return {blocks_log2 << size_shift}; }
  SIMT_HOST_FN std::uint32_t header() const { return word & ~used_mask; }
  SIMT_HOST_FN std::uint32_t used() const { return word & used_mask; }
  SIMT_HOST_FN std::uint32_t blocks_log2() const { return word >> size_shift; }
  SIMT_HOST_FN std::uint32_t blocks() const { return 1u << blocks_log2(); }
};

struct Superblocks {
  static constexpr std::uint32_t stride_unit = 8;  // granularity of the stride in words

  std::byte* base = nullptr;
  std::uint32_t* states = nullptr;  // `stride` words per superblock: the state, then the bits
  std::uint32_t count = 0;
  std::uint32_t stride = 0;
  std::uint32_t bytes_log2 = 0;

  SIMT_HOST_FN static std::uint32_t stride_of(std::uint32_t blocks_log2_at_most) {
    const std::uint32_t words = blocks_log2_at_most < 5 ? 1 : 1u << (blocks_log2_at_most - 5);
    return simt::round_up(1 + words, stride_unit);
  }
  SIMT_FN std::uint32_t& state(std::uint32_t superblock) const { return states[std::size_t{superblock} * stride]; }
  SIMT_FN std::uint32_t& bits(std::uint32_t superblock, std::uint32_t block) const {
    return states[std::size_t{superblock} * stride + 1 + block / 32];
  }
  SIMT_FN std::byte* address(std::uint32_t superblock, std::uint32_t block, std::uint32_t block_log2) const {
    return base + (std::size_t{superblock} << bytes_log2) + (std::size_t{block} << block_log2);
  }

  // Takes a block of a superblock that was seen with this header. The search for a bit begins at `start`. Returns
  // no_block if the superblock is full or its header has changed.
  template <class Thread>
  SIMT_FN std::uint32_t claim(Thread& thread, std::uint32_t superblock, std::uint32_t header,
                              std::uint32_t start) const {
    const auto word = thread.atomic(state(superblock));
    const SuperblockState wanted{header};
    thread.probe(simt::Step::attempt);
    const SuperblockState before{word.fetch_add(1u, simt::acquire)};
    if (before.header() != header || before.used() >= wanted.blocks()) {
      thread.probe(simt::Step::retry);
      word.fetch_sub(1u, simt::relaxed);
      return no_block;
    }
    const std::uint32_t last = wanted.blocks() - 1;
    const std::uint32_t bits_of_word = last < 32 ? last + 1 : 32;
    std::uint32_t block = start & last;
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t bit = 1u << block % 32;
      const std::uint32_t seen = thread.atomic(bits(superblock, block)).fetch_or(bit, simt::acquire);
      if ((seen & bit) == 0) return block;
      const std::uint32_t clear = simt::count_trailing_zeros(~seen);
      block = clear < bits_of_word ? (block & ~31u) + clear : (block + 32) & last;
      thread.probe(simt::Step::walk);
    }
  }

  // Frees a block. Returns false if the block was not in use.
  template <class Thread>
  SIMT_FN bool release(Thread& thread, std::uint32_t superblock, std::uint32_t block) const {
    const std::uint32_t bit = 1u << block % 32;
    if ((thread.atomic(bits(superblock, block)).fetch_and(~bit, simt::release) & bit) == 0) return false;
    thread.atomic(state(superblock)).fetch_sub(1u, simt::release);
    return true;
  }
};

}  // namespace allocbench::kokkos
