// These functions check the invariants of a Kokkos::MemoryPool while no kernel runs.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "allocators/kokkos_memory_pool/superblock.hpp"

namespace allocbench::kokkos {

// Checks that counts agree with bits, that no bit is set beyond the blocks of a superblock, and that no block is above
// the largest size. Returns an empty text if this is true.
inline std::string broken_superblock(simt::Stream& stream, const Superblocks& superblocks, std::uint32_t max_log2) {
  std::vector<std::uint32_t> words(std::size_t{superblocks.count} * superblocks.stride);
  simt::copy_to_host(stream, words.data(), superblocks.states, words.size() * sizeof words[0]);
  for (std::uint32_t i = 0; i < superblocks.count; ++i) {
    const std::uint32_t* const begin = words.data() + std::size_t{i} * superblocks.stride;
    const SuperblockState state{*begin};
    const std::string name = "superblock " + std::to_string(i);
    if (state.blocks_log2() + max_log2 < superblocks.bytes_log2) return name + " has blocks above the largest size";
    std::uint32_t used = 0;
    for (std::uint32_t word = 0; word + 1 < superblocks.stride; ++word) {
      const std::uint32_t first = word * 32;
      const std::uint32_t blocks = state.blocks() <= first ? 0 : state.blocks() - first;
      const std::uint32_t valid = blocks >= 32 ? 0xffffffffu : (1u << blocks) - 1;
      if ((begin[1 + word] & ~valid) != 0) return name + " uses blocks that it does not have";
      used += static_cast<std::uint32_t>(std::popcount(begin[1 + word]));
    }
    if (used != state.used()) {
      return name + " counts " + std::to_string(state.used()) + " blocks in use, its bits say " + std::to_string(used);
    }
  }
  return {};
}

}  // namespace allocbench::kokkos
