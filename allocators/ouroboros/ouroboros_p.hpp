// This file registers the published form of page-based Ouroboros, with its three queues: flat ring (S), array hierarchy
// (VA), linked list (VL). published/published.hpp describes the algorithm and the differences from the paper.
#pragma once

#include "allocators/ouroboros/published/published.hpp"

namespace allocbench {

struct OuroborosPS
    : ouroboros::published::OuroborosOf<ouroboros::published::PageQueueHeap<ouroboros::published::RingQueue>> {
  static constexpr Traits traits{.name = "ouroboros_p_s",
                                 .display_name = "Ouroboros P-S",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of free pages in flat rings",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosPS create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosPVA
    : ouroboros::published::OuroborosOf<ouroboros::published::PageQueueHeap<ouroboros::published::ArrayQueue>> {
  static constexpr Traits traits{.name = "ouroboros_p_va",
                                 .display_name = "Ouroboros P-VA",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of free pages, kept in chunks that an array finds",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosPVA create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosPVL
    : ouroboros::published::OuroborosOf<ouroboros::published::PageQueueHeap<ouroboros::published::ListQueue>> {
  static constexpr Traits traits{.name = "ouroboros_p_vl",
                                 .display_name = "Ouroboros P-VL",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of free pages, kept in linked chunks",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosPVL create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(ouroboros_p, OuroborosPS, OuroborosPVA, OuroborosPVL)
