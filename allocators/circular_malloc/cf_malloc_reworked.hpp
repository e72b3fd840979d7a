// CFMalloc, reworked: circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CFMallocReworked : circular::CircularMalloc<circular::FusedHeader, circular::SideTable, circular::Offsets::one,
                                                   circular::Merge::yes> {
  static constexpr Traits traits{
      .name = "cf_malloc_reworked",
      .display_name = "CFMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.3",
      .summary = "circular list, flag and next fused in one word; headers in a side table, merging",
      .form = Form::reworked};
  static CFMallocReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cf_malloc_reworked, CFMallocReworked)
