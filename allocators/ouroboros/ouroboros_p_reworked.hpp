// This file registers the reworked form of page-based Ouroboros, with its three queues: flat ring (S), array hierarchy
// (VA), linked list (VL). ouroboros.hpp describes the algorithm and the differences from the paper.
#pragma once

#include "allocators/ouroboros/ouroboros.hpp"

namespace allocbench {

struct OuroborosPSReworked : ouroboros::OuroborosOf<ouroboros::PageHeap<ouroboros::FlatRing>> {
  static constexpr Traits traits{.name = "ouroboros_p_s_reworked",
                                 .display_name = "Ouroboros P-S, reworked",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of free pages in flat rings",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosPSReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosPVAReworked
    : ouroboros::OuroborosOf<ouroboros::PageHeap<ouroboros::SegmentedQueue<ouroboros::ArrayHierarchy>>> {
  static constexpr Traits traits{.name = "ouroboros_p_va_reworked",
                                 .display_name = "Ouroboros P-VA, reworked",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of free pages, kept in chunks that an array finds",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosPVAReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosPVLReworked
    : ouroboros::OuroborosOf<ouroboros::PageHeap<ouroboros::SegmentedQueue<ouroboros::LinkedList>>> {
  static constexpr Traits traits{.name = "ouroboros_p_vl_reworked",
                                 .display_name = "Ouroboros P-VL, reworked",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of free pages, kept in linked chunks",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosPVLReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(ouroboros_p_reworked, OuroborosPSReworked, OuroborosPVAReworked, OuroborosPVLReworked)
