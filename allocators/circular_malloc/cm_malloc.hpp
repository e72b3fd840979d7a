// CMMalloc (circular multi) is a circular list with one roving offset and one pre-split heap per SM.
//
// Paper: Vinkler & Havran 2015, section 4.4. algorithm_3.hpp describes the algorithm, its data and the differences from
// the paper.
#pragma once

#include "allocators/circular_malloc/algorithm_3.hpp"

namespace allocbench {

struct CMMalloc : circular::Algorithm3<circular::TwoWordHeader, circular::Offsets::per_sm, circular::Merge::yes> {
  static constexpr Traits traits{.name = "cm_malloc",
                                 .display_name = "CMMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 4.4",
                                 .summary =
                                     "circular list, a roving offset and a pre-split heap per SM; unsafe: a late "
                                     "walker may lock a word of user data",
                                 .form = Form::published};
  static CMMalloc create(Arena& arena, const Parameters& parameters) { return lay_out<CMMalloc>(arena, parameters); }
};

struct CMMallocNoMerge : circular::Algorithm3<circular::TwoWordHeader, circular::Offsets::per_sm, circular::Merge::no> {
  static constexpr Traits traits{
      .name = "cm_malloc_no_merge",
      .display_name = "CMMalloc, no merge",
      .paper = "Vinkler & Havran 2015, sec. 4.4; Winter et al. 2021",
      .summary = "cm_malloc without merging, as the 2021 survey measured it: a free only unlocks",
      .form = Form::ablation,
      .based_on = "cm_malloc"};
  static CMMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return lay_out<CMMallocNoMerge>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cm_malloc, CMMalloc, CMMallocNoMerge)
