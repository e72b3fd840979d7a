// This file registers the reworked form of CFMMalloc (side_table_list.hpp).
#pragma once

#include "allocators/circular_malloc/side_table_list.hpp"

namespace allocbench {

struct CFMMallocReworked : circular::SideTableList<circular::FusedHeader, circular::Offsets::per_sm> {
  static constexpr Traits traits{.name = "cfm_malloc_reworked",
                                 .display_name = "CFMMalloc, reworked",
                                 .paper = "Vinkler & Havran 2015, sec. 4.4",
                                 .summary =
                                     "fused circular list, a roving offset and a pre-split heap per SM; headers in a "
                                     "side table, looks before it locks",
                                 .form = Form::reworked};
  static CFMMallocReworked create(Arena& arena, const Parameters& parameters) {
    return lay_out<CFMMallocReworked>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cfm_malloc_reworked, CFMMallocReworked)
