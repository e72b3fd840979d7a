// This file registers the reworked form of CFMalloc (side_table_list.hpp).
#pragma once

#include "allocators/circular_malloc/side_table_list.hpp"

namespace allocbench {

struct CFMallocReworked : circular::SideTableList<circular::FusedHeader, circular::Offsets::one> {
  static constexpr Traits traits{
      .name = "cf_malloc_reworked",
      .display_name = "CFMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.3",
      .summary = "circular list, flag and next in one word; headers in a side table, looks before it locks",
      .form = Form::reworked};
  static CFMallocReworked create(Arena& arena, const Parameters& parameters) {
    return lay_out<CFMallocReworked>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cf_malloc_reworked, CFMallocReworked)
