// The parameters of Halloc, the same in all forms, and how they divide the pool.
#pragma once

#include <algorithm>

#include "allocators/common/device_heap_share.hpp"
#include "allocators/contract/parameters.hpp"
#include "allocators/halloc/size_classes.hpp"

namespace allocbench::halloc {

struct Parameters {
  std::uint64_t slab_bytes = std::uint64_t{4} << 20;
  double slab_share = 0.75;
  double busy = 0.835;
  double roomy = 0.60;
  double sparse = 0.012;
  bool cache_next_head = true;

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"slab_bytes", &P::slab_bytes, "B", "bytes of a slab", "slide Test Setup: 4 MiB"}
            .between(512, 1 << 24)
            .powers_of_two(),
        Field{"slab_share", &P::slab_share, "fraction",
              "share of the pool for slabs; the rest is the device heap, which serves what slabs do not; 1: no device "
              "heap",
              "slide Test Setup: 75 %"}
            .between(0.01, 1),
        Field{"busy", &P::busy, "fraction", "a head filled this far is replaced", "slide Test Setup: 83.5 %"}.between(
            0.01, 1),
        Field{"roomy", &P::roomy, "fraction", "a slab filled at most this far may become a head again", "public code"}
            .between(0.01, 1),
        Field{"sparse", &P::sparse, "fraction", "a slab filled at most this far may change its block size",
              "public code"}
            .between(0, 1),
        Field{"cache_next_head", &P::cache_next_head, "", "look for the next head in advance",
              "slide Head Replacement Tricks"}};
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
