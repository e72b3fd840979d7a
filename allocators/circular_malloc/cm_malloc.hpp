// CMMalloc (circular multi): circular list with one roving offset and one pre-split heap per SM.
//
// Paper: Vinkler & Havran 2015, section 4.4. The algorithm, its data and what differs from the paper:
// circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CMMalloc : circular::CircularMalloc<circular::SplitHeader, circular::InPool, circular::Offsets::per_sm,
                                           circular::Merge::yes_and_redirect> {
  static constexpr Traits traits{
      .name = "cm_malloc",
      .display_name = "CMMalloc",
      .paper = "Vinkler & Havran 2015, sec. 4.4",
      .summary =
          "as printed: headers in the pool, merging and redirecting all offsets after a merge; unsafe, a late walker "
          "may lock a word of user data"};
  static CMMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct CMMallocNoMerge : circular::CircularMalloc<circular::SplitHeader, circular::InPool, circular::Offsets::per_sm,
                                                  circular::Merge::no> {
  static constexpr Traits traits{.name = "cm_malloc_no_merge",
                                 .display_name = "CMMalloc (no merge)",
                                 .paper = "Vinkler & Havran 2015, sec. 4.4; Winter et al. 2021",
                                 .summary = "headers in the pool, never merges: the form the 2021 survey measured",
                                 .form = Form::ablation,
                                 .based_on = "cm_malloc"};
  static CMMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cm_malloc, CMMalloc, CMMallocNoMerge)
