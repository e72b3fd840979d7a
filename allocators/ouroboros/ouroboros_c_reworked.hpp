// This file registers the reworked form of chunk-based Ouroboros, with its three queues: flat ring (S), array hierarchy
// (VA), linked list (VL). ouroboros.hpp describes the algorithm and the differences from the paper.
#pragma once

#include "allocators/ouroboros/ouroboros.hpp"

namespace allocbench {

struct OuroborosCSReworked : ouroboros::OuroborosOf<ouroboros::ChunkHeap<ouroboros::FlatRing>> {
  static constexpr Traits traits{.name = "ouroboros_c_s_reworked",
                                 .display_name = "Ouroboros C-S, reworked",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of chunks with free pages in flat rings",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosCSReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosCVAReworked
    : ouroboros::OuroborosOf<ouroboros::ChunkHeap<ouroboros::SegmentedQueue<ouroboros::ArrayHierarchy>>> {
  static constexpr Traits traits{.name = "ouroboros_c_va_reworked",
                                 .display_name = "Ouroboros C-VA, reworked",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of chunks with free pages, kept in chunks that an array finds",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosCVAReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosCVLReworked
    : ouroboros::OuroborosOf<ouroboros::ChunkHeap<ouroboros::SegmentedQueue<ouroboros::LinkedList>>> {
  static constexpr Traits traits{.name = "ouroboros_c_vl_reworked",
                                 .display_name = "Ouroboros C-VL, reworked",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of chunks with free pages, kept in linked chunks",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosCVLReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(ouroboros_c_reworked, OuroborosCSReworked, OuroborosCVAReworked, OuroborosCVLReworked)
