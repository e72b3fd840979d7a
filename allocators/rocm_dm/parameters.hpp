// Parameters has the defaults of the released source of ROCm's device malloc.
#pragma once

#include <string>

#include "allocators/support/common/bit_orders.hpp"
#include "allocators/support/contract/parameters.hpp"

namespace allocbench::rocm_dm {

struct Parameters {
  std::uint64_t slab_bytes = std::uint64_t{2} << 20;
  std::uint64_t max_block_bytes = 3072;
  std::uint64_t large_alignment_bytes = 4096;
  std::uint64_t slab_interval = 200'000;
  std::string bit_orders = "relaxed";

  BitOrders chosen_orders() const { return {bit_orders != "relaxed", bit_orders == "fixed"}; }

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"slab_bytes", &P::slab_bytes, "B", "bytes of a slab, whose blocks have one size", "dm.cl: 2 MiB"}
            .between(256, 1 << 26)
            .powers_of_two(),
        Field{"max_block_bytes", &P::max_block_bytes, "B", "the largest request; larger ones are for the host",
              "dm.cl: 3,072"}
            .between(16, 3072),
        Field{
            "large_alignment_bytes", &P::large_alignment_bytes, "B",
            "blocks that begin at a multiple of this are not used, because free would take them for blocks of the host",
            "dm.cl: 4 KiB"}
            .between(32, 1 << 16)
            .powers_of_two(),
        Field{"slab_interval", &P::slab_interval, "ns",
              "least time between two slabs of one size; 0: none. On the CPU, where no time passes while lanes wait: "
              "until the slab before is ready, or so many of all sizes",
              "dm.cl: 20,000 ticks of 100 MHz"}
            .between(0, 1e10),
        Field{"bit_orders", &P::bit_orders, "",
              "memory orders of bits and counts: relaxed; fenced: clearing a bit releases; fixed: and setting one "
              "acquires (docs/findings.md)",
              "dm.cl: relaxed in releases, fenced there on MI300 and in development"}
            .one_of({"relaxed", "fenced", "fixed"})};
  }
};

// In GroupedParameters the default of `bit_orders` is "fenced", because the development version of ROCm has a fence
// before it clears a bit. `count_order` selects when the maker of a slab counts the blocks that its group takes.
struct GroupedParameters : Parameters {
  std::string count_order = "published";

  GroupedParameters() { bit_orders = "fenced"; }

  bool counts_first() const { return count_order == "published"; }

  static auto fields() {
    return std::tuple_cat(
        Parameters::fields(),
        std::tuple{
            Field{"count_order", &GroupedParameters::count_order, "",
                  "when a new slab's count is set: published: before the exchange that records the slab, so that a "
                  "maker that loses it overwrites the winner's count; fixed: after it (docs/findings.md)",
                  "dm.cl, development"}
                .one_of({"published", "fixed"})});
  }
};

}  // namespace allocbench::rocm_dm
