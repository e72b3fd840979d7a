// All forms of Halloc share these parameters and the functions that divide the pool.
#pragma once

#include <algorithm>

#include "allocators/halloc/size_classes.hpp"
#include "allocators/support/common/device_heap_share.hpp"
#include "allocators/support/contract/parameters.hpp"

namespace allocbench::halloc {

struct Parameters {
  std::uint64_t slab_bytes = std::uint64_t{4} << 20;
  double slab_share = 0.75;
  double busy = 0.835;
  double roomy = 0.60;
  double sparse = 0.012;
  bool cache_next_head = true;

  static auto fields();
};

// Returns the fields of Parameters as fields of P, which is Parameters or derives from it. A derived struct appends its
// own fields.
template <class P>
auto common_fields() {
  const auto member = []<class T>(T Parameters::*base) -> T P::* { return base; };
  return std::tuple{
      Field{"slab_bytes", member(&Parameters::slab_bytes), "B", "bytes of a slab", "slide Test Setup: 4 MiB"}
          .between(512, 1 << 24)
          .powers_of_two(),
      Field{"slab_share", member(&Parameters::slab_share), "fraction",
            "share of the pool for slabs; the rest is the device heap, which serves what slabs do not; 1: no device "
            "heap",
            "slide Test Setup: 75 %"}
          .between(0.01, 1),
      Field{"busy", member(&Parameters::busy), "fraction", "a head filled this far is replaced",
            "slide Test Setup: 83.5 %"}
          .between(0.01, 1),
      Field{"roomy", member(&Parameters::roomy), "fraction", "a slab filled at most this far may become a head again",
            "public code"}
          .between(0.01, 1),
      Field{"sparse", member(&Parameters::sparse), "fraction",
            "a slab filled at most this far may change its block size", "public code"}
          .between(0, 1),
      Field{"cache_next_head", member(&Parameters::cache_next_head), "", "look for the next head in advance",
            "slide Head Replacement Tricks"}};
}

inline auto Parameters::fields() { return common_fields<Parameters>(); }

struct VariedParameters : Parameters {
  bool aggregation = true;
  std::uint32_t hash_spread = published_spread;
  std::uint32_t hash_stretch = published_stretch;

  static auto fields() {
    using P = VariedParameters;
    return std::tuple_cat(
        common_fields<P>(),
        std::tuple{
            Field{"aggregation", &P::aggregation, "",
                  "lanes that ask together raise the counter of their size, and the count of a slab, once; "
                  "false: each lane does by itself",
                  "slides Warp-Aggregated Atomic Increment"},
            Field{"hash_spread", &P::hash_spread, "",
                  "T of the hash: so many blocks lie between those of counter values that follow each other",
                  "public code: 11"}
                .between(1, 1 << 16),
            Field{"hash_stretch", &P::hash_stretch, "", "S of the hash: how far later tries go", "public code: 64"}
                .between(1, 1 << 16)});
  }
};

inline std::size_t slab_pool_bytes(std::size_t pool_bytes, const Parameters& parameters) {
  const auto share = static_cast<std::size_t>(static_cast<double>(pool_bytes) * parameters.slab_share);
  return share / parameters.slab_bytes * parameters.slab_bytes;
}

inline std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters& parameters) {
  return parameters.slab_share == 1 ? 0 : pool_bytes - slab_pool_bytes(pool_bytes, parameters);
}

inline std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
  const std::size_t in_slabs = SizeClasses::of_slab(parameters.slab_bytes, 0.5, 0.5, 0.5).largest_request();
  return std::max(in_slabs, largest_in_device_heap(device_heap_bytes(pool_bytes, parameters)));
}

}  // namespace allocbench::halloc
