// CFMMalloc (circular fused multi) is a fused circular list with one roving offset and one pre-split heap per SM.
//
// Paper: Vinkler & Havran 2015, section 4.4. algorithm_3.hpp describes the algorithm, its data and the differences from
// the paper. A launch takes longer if a request walks over small chunks, and the roving offsets decide whether this
// happens (docs/findings.md).
#pragma once

#include "allocators/circular_malloc/algorithm_3.hpp"

namespace allocbench {

struct CFMMalloc : circular::Algorithm3<circular::FusedHeader, circular::Offsets::per_sm, circular::Merge::yes> {
  static constexpr Traits traits{.name = "cfm_malloc",
                                 .display_name = "CFMMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 4.4",
                                 .summary =
                                     "fused circular list, a roving offset and a pre-split heap per SM; unsafe: a late "
                                     "walker may lock a word of user data",
                                 .form = Form::published};
  static CFMMalloc create(Arena& arena, const Parameters& parameters) { return lay_out<CFMMalloc>(arena, parameters); }
};

struct CFMMallocNoMerge : circular::Algorithm3<circular::FusedHeader, circular::Offsets::per_sm, circular::Merge::no> {
  static constexpr Traits traits{
      .name = "cfm_malloc_no_merge",
      .display_name = "CFMMalloc, no merge",
      .paper = "Vinkler & Havran 2015, sec. 4.4; Winter et al. 2021",
      .summary = "cfm_malloc without merging, as the 2021 survey measured it: a free only unlocks",
      .form = Form::ablation,
      .based_on = "cfm_malloc"};
  static CFMMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return lay_out<CFMMallocNoMerge>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cfm_malloc, CFMMalloc, CFMMallocNoMerge)
