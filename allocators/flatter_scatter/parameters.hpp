// The parameters of FlatterScatter have mallocMC's defaults.
#pragma once

#include <string>

#include "allocators/support/common/bit_orders.hpp"
#include "allocators/support/contract/parameters.hpp"

namespace allocbench::flatter_scatter {

struct Parameters {
  std::uint64_t access_block_bytes = std::uint64_t{128} << 20;
  std::uint64_t page_bytes = std::uint64_t{128} << 10;
  std::uint32_t waste_factor = 2;
  std::uint32_t block_stride = 4;
  bool reset_pages = true;
  std::string bit_orders = "published";

  BitOrders chosen_orders() const { return {bit_orders == "fixed", bit_orders == "fixed"}; }

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"access_block_bytes", &P::access_block_bytes, "B",
              "bytes of an access block, which is searched as a whole; a smaller pool is one smaller block",
              "FlatterScatter.hpp: 128 MiB"}
            .between(1024, std::uint64_t{1} << 30)
            .powers_of_two(),
        Field{"page_bytes", &P::page_bytes, "B", "bytes of a page, whose chunks have one size",
              "FlatterScatter.hpp: 128 KiB"}
            .between(256, 1 << 22)
            .powers_of_two(),
        Field{"waste_factor", &P::waste_factor, "ratio", "a request takes chunks of up to this many times its size",
              "FlatterScatter.hpp: 2"}
            .between(1, 16),
        Field{"block_stride", &P::block_stride, "blocks",
              "searches begin in one of this many access blocks; when it is full they move on by as many",
              "FlatterScatter.hpp: 4"}
            .between(1, 1024),
        Field{"reset_pages", &P::reset_pages, "", "an empty page forgets its chunk size", "FlatterScatter.hpp: on"},
        Field{"bit_orders", &P::bit_orders, "",
              "memory orders of bits and fillings: published: relaxed; fixed: release and acquire (docs/findings.md)",
              "AccessBlock.hpp: relaxed"}
            .one_of({"published", "fixed"})};
  }
};

}  // namespace allocbench::flatter_scatter
