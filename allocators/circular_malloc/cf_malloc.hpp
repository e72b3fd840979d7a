// CFMalloc (circular fused): circular list, flag and next fused in one word.
//
// Paper: Vinkler & Havran 2015, section 4.3. The algorithm, its data and what differs from the paper:
// circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CFMalloc
    : circular::CircularMalloc<circular::FusedHeader, circular::InPool, circular::Offsets::one, circular::Merge::yes> {
  static constexpr Traits traits{.name = "cf_malloc",
                                 .display_name = "CFMalloc",
                                 .paper = "Vinkler & Havran 2015, sec. 4.3",
                                 .summary =
                                     "as printed: headers in the pool, merging; unsafe, a late walker "
                                     "may lock a word of user data"};
  static CFMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct CFMallocNoMerge
    : circular::CircularMalloc<circular::FusedHeader, circular::InPool, circular::Offsets::one, circular::Merge::no> {
  static constexpr Traits traits{.name = "cf_malloc_no_merge",
                                 .display_name = "CFMalloc (no merge)",
                                 .paper = "Vinkler & Havran 2015, sec. 4.3; Winter et al. 2021",
                                 .summary = "headers in the pool, never merges: the form the 2021 survey measured",
                                 .form = Form::ablation,
                                 .based_on = "cf_malloc"};
  static CFMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cf_malloc, CFMalloc, CFMallocNoMerge)
