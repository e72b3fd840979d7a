#pragma once

#include <string>

#include "allocators/support/contract/allocator.hpp"

namespace allocbench::bulkalloc {

struct Parameters {
  std::uint64_t page_bytes = 4096;
  std::uint64_t chunk_bytes = std::uint64_t{256} << 10;
  std::uint32_t arenas = 0;

  // Throws Unsupported if a chunk does not have 4 to 512 pages.
  void check() const {
    if (chunk_bytes < 4 * page_bytes || chunk_bytes > 512 * page_bytes) {
      throw Unsupported("bulkalloc needs chunks of 4 to 512 pages, not chunk_bytes = " + std::to_string(chunk_bytes) +
                        " with page_bytes = " + std::to_string(page_bytes));
    }
  }

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"page_bytes", &P::page_bytes, "B", "bytes of a bin and of the smallest block of the buddy tree",
              "Gelado & Garland 2019: 4 KiB"}
            .between(256, 8192)
            .powers_of_two(),
        Field{"chunk_bytes", &P::chunk_bytes, "B", "bytes of a chunk, which is cut into bins",
              "assumed: 256 KiB, which fits the paper's 62 bins and tails; its text says 512 KiB"}
            .between(1024, 1 << 22)
            .powers_of_two(),
        Field{"arenas", &P::arenas, "",
              "arenas for small requests; 0: one per SM, but at most one for every eight chunks of the pool",
              "Gelado & Garland 2019: one per SM"}
            .between(0, 4096)};
  }
};

}  // namespace allocbench::bulkalloc
