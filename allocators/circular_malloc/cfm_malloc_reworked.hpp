// CFMMalloc, reworked: circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CFMMallocReworked : circular::CircularMalloc<circular::FusedHeader, circular::SideTable,
                                                    circular::Offsets::per_sm, circular::Merge::yes> {
  static constexpr Traits traits{
      .name = "cfm_malloc_reworked",
      .display_name = "CFMMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.4",
      .summary =
          "fused circular list with one roving offset and one pre-split heap per SM; headers in a side table, merging",
      .form = Form::reworked};
  static CFMMallocReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cfm_malloc_reworked, CFMMallocReworked)
