// PageParameters are the common parameters of applications that keep their results in pages of one size while a part of
// the pool is already in use (workloads/support/occupancy/pre_occupation.hpp).
#pragma once

#include <string>
#include <tuple>

#include "allocators/support/contract/parameters.hpp"

namespace allocbench {

struct Geometry;
struct RunSetting;

struct PageParameters {
  std::uint64_t page_bytes = 256;
  double free_share = 0.5;
};

// Returns the fields that the parameter struct P inherits from PageParameters. `shares_source` is the source of the
// free share.
template <class P>
auto page_fields(std::uint32_t most_bytes, const char* shares_source) {
  const auto member = []<class T>(T PageParameters::*base) -> T P::* { return base; };
  return std::tuple{
      Field{"page_bytes", member(&PageParameters::page_bytes), "B", "size of every page, 16 bytes of header included",
            "assumed: 256, as in the paper's unit tests"}
          .between(32, most_bytes),
      Field{"free_share", member(&PageParameters::free_share), "fraction", "share of the pages that is free before",
            shares_source}
          .between(0, 1)};
}

// Returns the reason why the allocator cannot keep `live_bytes` of such pages in use together with the pages that are
// in use before the sample. Returns an empty text if it can.
std::string why_pages_unsupported(const PageParameters& pages, std::uint64_t live_bytes, const Geometry& callers,
                                  const RunSetting& setting);

}  // namespace allocbench
