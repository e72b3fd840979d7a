// ScatterParameters are the parameters of ScatterAlloc. The ablations of ScatterAlloc leave out coalescing or page
// reset.
#pragma once

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::scatteralloc {

enum class Coalescing { off, on };
enum class PageReset { off, on };

struct ScatterParameters {
  std::uint64_t page_bytes = 4096;
  std::uint32_t region_pages = 16;
  std::uint32_t access_blocks = 8;
  std::uint32_t waste_factor = 2;

  static auto fields() {
    using P = ScatterParameters;
    return std::tuple{
        Field{"page_bytes", &P::page_bytes, "B", "bytes of a page", "authors' code; Vinkler & Havran 2015, fig. 4"}
            .between(256, 1 << 26)
            .powers_of_two(),
        Field{"region_pages", &P::region_pages, "pages", "pages that share one fill counter", "authors' code"}
            .between(1, 1 << 10)
            .powers_of_two(),
        Field{"access_blocks", &P::access_blocks, "blocks", "equal slices of the pool, used one after the other",
              "authors' code: 8"}
            .between(1, 4096),
        Field{"waste_factor", &P::waste_factor, "ratio", "a request takes chunks of up to this many times its size",
              "authors' code"}
            .between(1, 16)};
  }
};

// ReworkedParameters adds `rehashes`. One access block is the default, which saves a dependent load per malloc.
struct ReworkedParameters : ScatterParameters {
  std::uint32_t rehashes = 8;

  ReworkedParameters() { access_blocks = 1; }

  static auto fields() {
    return std::tuple_cat(ScatterParameters::fields(),
                          std::tuple{Field{"rehashes", &ReworkedParameters::rehashes, "places",
                                           "random places tried before the walk over the regions",
                                           "assumed: the published search has none"}
                                         .between(0, 64)});
  }
};

}  // namespace allocbench::scatteralloc
