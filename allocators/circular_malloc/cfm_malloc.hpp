// CFMMalloc (circular fused multi): fused circular list with one roving offset and one pre-split heap per SM.
//
// Paper: Vinkler & Havran 2015, section 4.4. The algorithm, its data and what differs from the paper:
// circular_malloc.hpp.
#pragma once

#include "allocators/circular_malloc/circular_malloc.hpp"

namespace allocbench {

struct CFMMalloc : circular::CircularMalloc<circular::FusedHeader, circular::InPool, circular::Offsets::per_sm,
                                            circular::Merge::yes_and_redirect> {
  static constexpr Traits traits{
      .name = "cfm_malloc",
      .display_name = "CFMMalloc",
      .paper = "Vinkler & Havran 2015, sec. 4.4",
      .summary =
          "as printed: headers in the pool, merging and redirecting all offsets after a merge; unsafe, a late walker "
          "may lock a word of user data"};
  static CFMMalloc create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct CFMMallocNoMerge : circular::CircularMalloc<circular::FusedHeader, circular::InPool, circular::Offsets::per_sm,
                                                   circular::Merge::no> {
  static constexpr Traits traits{.name = "cfm_malloc_no_merge",
                                 .display_name = "CFMMalloc (no merge)",
                                 .paper = "Vinkler & Havran 2015, sec. 4.4; Winter et al. 2021",
                                 .summary = "headers in the pool, never merges: the form the 2021 survey measured",
                                 .form = Form::ablation,
                                 .based_on = "cfm_malloc"};
  static CFMMallocNoMerge create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cfm_malloc, CFMMalloc, CFMMallocNoMerge)
