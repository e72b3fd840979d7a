// The parameters of LLVM libc's GPU malloc have the defaults of its source.
#pragma once

#include <string>

#include "allocators/llvm_libc/size_classes.hpp"
#include "allocators/llvm_libc/slab.hpp"
#include "allocators/support/contract/parameters.hpp"

namespace allocbench::llvm_libc {

struct Parameters {
  std::uint64_t slab_bytes = std::uint64_t{2} << 20;
  std::uint32_t cached_slabs = 8;
  bool reclaim = true;
  std::string rounding = "published";
  std::string bit_orders = "published";

  Rounding chosen_rounding() const { return rounding == "fixed" ? Rounding::fixed : Rounding::published; }
  BitOrders chosen_orders() const { return {bit_orders == "fixed", bit_orders == "fixed"}; }

  static auto fields() {
    using P = Parameters;
    const std::vector<std::string> versions{"published", "fixed"};
    return std::tuple{
        Field{"slab_bytes", &P::slab_bytes, "B", "bytes of a slab; requests of half of it and more take a whole one",
              "allocator.cpp: 2 MiB"}
            .between(256, 1 << 26)
            .powers_of_two(),
        Field{"cached_slabs", &P::cached_slabs, "slabs", "empty slabs kept for any size", "allocator.cpp: 8"}.between(
            0, 64),
        Field{"reclaim", &P::reclaim, "", "give empty slabs back, and look at a slot again after a claim",
              "allocator.cpp: on"},
        Field{"rounding", &P::rounding, "",
              "a request that equals a size of 0.75 or 0.875 times a power of two: published: gets the next larger one",
              "allocator.cpp; fixed by pull request 221583"}
            .one_of(versions),
        Field{"bit_orders", &P::bit_orders, "",
              "memory orders of the bits: published: relaxed; fixed: release and acquire (docs/findings.md)",
              "allocator.cpp since pull request 182388"}
            .one_of(versions)};
  }
};

}  // namespace allocbench::llvm_libc
