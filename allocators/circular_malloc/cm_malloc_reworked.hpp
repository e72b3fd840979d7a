// This file registers the reworked form of CMMalloc (side_table_list.hpp).
#pragma once

#include "allocators/circular_malloc/side_table_list.hpp"

namespace allocbench {

struct CMMallocReworked : circular::SideTableList<circular::SplitHeader, circular::Offsets::per_sm> {
  static constexpr Traits traits{
      .name = "cm_malloc_reworked",
      .display_name = "CMMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.4",
      .summary =
          "circular list, a roving offset and a pre-split heap per SM; headers in a side table, looks before it locks",
      .form = Form::reworked};
  static CMMallocReworked create(Arena& arena, const Parameters& parameters) {
    return lay_out<CMMallocReworked>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cm_malloc_reworked, CMMallocReworked)
