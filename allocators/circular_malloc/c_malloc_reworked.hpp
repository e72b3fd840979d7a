// CMalloc, reworked: circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CMallocReworked : circular::CircularMalloc<circular::SplitHeader, circular::SideTable, circular::Offsets::one,
                                                  circular::Merge::yes> {
  static constexpr Traits traits{
      .name = "c_malloc_reworked",
      .display_name = "CMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.2",
      .summary = "circular list, flag and next in two words; headers in a side table, merging",
      .form = Form::reworked};
  static CMallocReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(c_malloc_reworked, CMallocReworked)
