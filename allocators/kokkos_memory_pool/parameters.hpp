// The parameters of Kokkos::MemoryPool have the defaults of Kokkos_MemoryPool.hpp.
#pragma once

#include <string>

#include "allocators/support/contract/allocator.hpp"

namespace allocbench::kokkos {

inline constexpr std::uint32_t no_superblock = 0xffffffffu;

struct Parameters {
  std::uint64_t min_block_bytes = 64;
  std::uint64_t max_block_bytes = 4096;
  std::uint64_t superblock_bytes = std::uint64_t{1} << 20;
  std::uint32_t attempts = 1;

  // Throws Unsupported if the sizes are in the wrong order, or if a superblock has more than 2^25 blocks.
  void check() const {
    if (min_block_bytes > max_block_bytes || max_block_bytes > superblock_bytes) {
      throw Unsupported("kokkos_memory_pool needs min_block_bytes <= max_block_bytes <= superblock_bytes, not " +
                        std::to_string(min_block_bytes) + ", " + std::to_string(max_block_bytes) + " and " +
                        std::to_string(superblock_bytes));
    }
    if (superblock_bytes / min_block_bytes > std::uint64_t{1} << 25) {
      throw Unsupported(
          "kokkos_memory_pool counts at most 2^25 blocks per superblock: raise min_block_bytes or lower "
          "superblock_bytes");
    }
  }

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"min_block_bytes", &P::min_block_bytes, "B", "bytes of the smallest block", "Kokkos_MemoryPool.hpp: 64"}
            .between(16, 1 << 20)
            .powers_of_two(),
        Field{"max_block_bytes", &P::max_block_bytes, "B", "bytes of the largest block: larger requests get null",
              "Kokkos_MemoryPool.hpp: 4 KiB"}
            .between(16, std::uint64_t{1} << 31)
            .powers_of_two(),
        Field{"superblock_bytes", &P::superblock_bytes, "B", "bytes of a superblock, whose blocks have one size",
              "Kokkos_MemoryPool.hpp: 1 MiB"}
            .between(64, std::uint64_t{1} << 31)
            .powers_of_two(),
        Field{"attempts", &P::attempts, "scans", "scans over all superblocks that may find nothing before null",
              "Kokkos_MemoryPool.hpp: 1"}
            .between(1, 1 << 20)};
  }
};

}  // namespace allocbench::kokkos
