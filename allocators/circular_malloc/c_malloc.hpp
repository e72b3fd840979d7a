// CMalloc: circular list, flag and next in two words.
//
// Paper: Vinkler & Havran 2015, section 4.2. The algorithm, its data and what differs from the paper:
// circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CMalloc
    : circular::CircularMalloc<circular::SplitHeader, circular::InPool, circular::Offsets::one, circular::Merge::yes> {
  static constexpr Traits traits{.name = "c_malloc",
                                 .display_name = "CMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 4.2",
                                 .summary =
                                     "as printed: headers in the pool, merging; unsafe, a late walker "
                                     "may lock a word of user data"};
  static CMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct CMallocNoMerge
    : circular::CircularMalloc<circular::SplitHeader, circular::InPool, circular::Offsets::one, circular::Merge::no> {
  static constexpr Traits traits{.name = "c_malloc_no_merge",
                                 .display_name = "CMalloc (no merge)",
                                 .paper = "Vinkler & Havran 2015, sec. 4.2; Winter et al. 2021",
                                 .summary = "headers in the pool, never merges: the form the 2021 survey measured",
                                 .form = Form::ablation,
                                 .based_on = "c_malloc"};
  static CMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(c_malloc, CMalloc, CMallocNoMerge)
