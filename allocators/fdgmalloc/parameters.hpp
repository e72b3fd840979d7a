// All forms of FDGMalloc share these parameters.
#pragma once

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::fdgmalloc {

struct Parameters {
  std::uint64_t superblock_bytes = 8192;
  std::uint32_t most_warps = 1 << 20;

  static auto fields() {
    return std::tuple{
        Field{"superblock_bytes", &Parameters::superblock_bytes, "B",
              "size of a SuperBlock, its fill level (reworked: its link) included", "public code"}
            .between(64, 1 << 20)
            .powers_of_two(),
        Field{"most_warps", &Parameters::most_warps, "warps",
              "warps of a grid that have a record; the others get null. Assumed: 32 million threads", "assumed"}
            .between(1, 1 << 26)};
  }
};

}  // namespace allocbench::fdgmalloc
