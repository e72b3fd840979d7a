#pragma once

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::xmalloc {

// The reworked forms have these parameters. The published forms have one more.
struct Parameters {
  bool coalescing = true;
  bool superblocks = true;
  std::uint64_t coalescing_limit_bytes = 256;
  std::uint64_t smallest_block_bytes = 512;
  std::uint32_t blocks_per_superblock = 32;
  std::uint32_t free_lists = 4;
  std::uint32_t free_list_capacity = 256;

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"coalescing", &P::coalescing, "", "the lanes of a warp are served as one", "sec. IV, fig. 2"},
        Field{"superblocks", &P::superblocks, "",
              "Basicblocks are cut from Superblocks; otherwise each comes from the heap below", "sec. VI, fig. 8"},
        Field{"coalescing_limit_bytes", &P::coalescing_limit_bytes, "B", "smaller requests coalesce",
              "public code; the paper has no limit"}
            .between(1, 4096),
        Field{"smallest_block_bytes", &P::smallest_block_bytes, "B",
              "smallest of the five Basicblock sizes, each twice the one before", "public code"}
            .between(64, 1 << 16)
            .powers_of_two(),
        Field{"blocks_per_superblock", &P::blocks_per_superblock, "blocks", "Basicblocks of a Superblock",
              "sec. V-A; the public code has 16"}
            .between(1, 32),
        Field{"free_lists", &P::free_lists, "lists", "free lists of each Basicblock size",
              "public code; the paper has 1"}
            .between(1, 64)
            .powers_of_two(),
        Field{"free_list_capacity", &P::free_list_capacity, "blocks", "entries of a free list", "public code"}
            .between(2, 1 << 20)
            .powers_of_two()};
  }
};

struct PublishedParameters : Parameters {
  std::uint32_t retry_limit = 10000;

  static auto fields() {
    return std::tuple_cat(
        Parameters::fields(),
        std::tuple{Field{"retry_limit", &PublishedParameters::retry_limit, "laps",
                         "a request gets null after so many laps over lists and buffers that find nothing",
                         "public code: 10,000,000"}
                       .between(1, 1e9)});
  }
};

// DeviceHeapParameters are the parameters of the published later form, over the device heap. As in the public code, a
// Superblock has 16 Basicblocks.
struct DeviceHeapParameters : PublishedParameters {
  DeviceHeapParameters() { blocks_per_superblock = 16; }
};

}  // namespace allocbench::xmalloc
