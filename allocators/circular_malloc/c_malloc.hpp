// CMalloc is a circular list with flag and next in two words.
//
// Paper: Vinkler & Havran 2015, section 4.2. algorithm_3.hpp describes the algorithm, its data and the differences from
// the paper.
#pragma once

#include "allocators/circular_malloc/algorithm_3.hpp"

namespace allocbench {

struct CMalloc : circular::Algorithm3<circular::TwoWordHeader, circular::Offsets::one, circular::Merge::yes> {
  static constexpr Traits traits{
      .name = "c_malloc",
      .display_name = "CMalloc",
      .paper = "Vinkler & Havran 2015, sec. 4.2",
      .summary = "circular list, flag and next in two words; unsafe: a late walker may lock a word of user data",
      .form = Form::published};
  static CMalloc create(Arena& arena, const Parameters& parameters) { return lay_out<CMalloc>(arena, parameters); }
};

struct CMallocNoMerge : circular::Algorithm3<circular::TwoWordHeader, circular::Offsets::one, circular::Merge::no> {
  static constexpr Traits traits{
      .name = "c_malloc_no_merge",
      .display_name = "CMalloc, no merge",
      .paper = "Vinkler & Havran 2015, sec. 4.2; Winter et al. 2021",
      .summary = "c_malloc without merging, as the 2021 survey measured it: a free only unlocks",
      .form = Form::ablation,
      .based_on = "c_malloc"};
  static CMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return lay_out<CMallocNoMerge>(arena, parameters);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(c_malloc, CMalloc, CMallocNoMerge)
