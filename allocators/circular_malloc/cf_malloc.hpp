// CFMalloc (circular fused) is a circular list with flag and next fused in one word.
//
// Paper: Vinkler & Havran 2015, section 4.3. algorithm_3.hpp describes the algorithm, its data and the differences from
// the paper.
#pragma once

#include "allocators/circular_malloc/algorithm_3.hpp"

namespace allocbench {

struct CFMalloc : circular::Algorithm3<circular::FusedHeader, circular::Offsets::one, circular::Merge::yes> {
  static constexpr Traits traits{
      .name = "cf_malloc",
      .display_name = "CFMalloc",
      .paper = "Vinkler & Havran 2015, sec. 4.3",
      .summary = "circular list, flag and next in one word; unsafe: a late walker may lock a word of user data",
      .form = Form::published};
  static CFMalloc create(Arena& arena, const Parameters& parameters) { return lay_out<CFMalloc>(arena, parameters); }
};

struct CFMallocNoMerge : circular::Algorithm3<circular::FusedHeader, circular::Offsets::one, circular::Merge::no> {
  static constexpr Traits traits{
      .name = "cf_malloc_no_merge",
      .display_name = "CFMalloc, no merge",
      .paper = "Vinkler & Havran 2015, sec. 4.3; Winter et al. 2021",
      .summary = "cf_malloc without merging, as the 2021 survey measured it: a free only unlocks",
      .form = Form::ablation,
      .based_on = "cf_malloc"};
  static CFMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return lay_out<CFMallocNoMerge>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cf_malloc, CFMalloc, CFMallocNoMerge)
