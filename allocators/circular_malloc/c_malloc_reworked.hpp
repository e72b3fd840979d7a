// This file registers the reworked form of CMalloc (side_table_list.hpp).
#pragma once

#include "allocators/circular_malloc/side_table_list.hpp"

namespace allocbench {

struct CMallocReworked : circular::SideTableList<circular::SplitHeader, circular::Offsets::one> {
  static constexpr Traits traits{
      .name = "c_malloc_reworked",
      .display_name = "CMalloc, reworked",
      .paper = "Vinkler & Havran 2015, sec. 4.2",
      .summary = "circular list, flag and next in one 8-byte word; headers in a side table, looks before it locks",
      .form = Form::reworked};
  static CMallocReworked create(Arena& arena, const Parameters& parameters) {
    return lay_out<CMallocReworked>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(c_malloc_reworked, CMallocReworked)
