// CMMalloc, reworked: circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CMMallocReworked : circular::CircularMalloc<circular::SplitHeader, circular::SideTable,
                                                   circular::Offsets::per_sm, circular::Merge::yes> {
  static constexpr Traits traits{
      .name = "cm_malloc_reworked",
      .display_name = "CMMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.4",
      .summary = "circular list with one roving offset and one pre-split heap per SM; headers in a side table, merging",
      .form = Form::reworked};
  static CMMallocReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cm_malloc_reworked, CMMallocReworked)
