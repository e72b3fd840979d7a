// This file registers the published form of chunk-based Ouroboros, with its three queues: flat ring (S), array
// hierarchy (VA), linked list (VL). published/published.hpp describes the algorithm and the differences from the paper.
#pragma once

#include "allocators/ouroboros/published/published.hpp"

namespace allocbench {

struct OuroborosCS
    : ouroboros::published::OuroborosOf<ouroboros::published::ChunkQueueHeap<ouroboros::published::RingQueue>> {
  static constexpr Traits traits{.name = "ouroboros_c_s",
                                 .display_name = "Ouroboros C-S",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of chunks with free pages in flat rings",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosCS create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosCVA
    : ouroboros::published::OuroborosOf<ouroboros::published::ChunkQueueHeap<ouroboros::published::ArrayQueue>> {
  static constexpr Traits traits{.name = "ouroboros_c_va",
                                 .display_name = "Ouroboros C-VA",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of chunks with free pages, kept in chunks that an array finds",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosCVA create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct OuroborosCVL
    : ouroboros::published::OuroborosOf<ouroboros::published::ChunkQueueHeap<ouroboros::published::ListQueue>> {
  static constexpr Traits traits{.name = "ouroboros_c_vl",
                                 .display_name = "Ouroboros C-VL",
                                 .paper = "Winter et al. 2020",
                                 .summary = "queues of chunks with free pages, kept in linked chunks",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  static OuroborosCVL create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(ouroboros_c, OuroborosCS, OuroborosCVA, OuroborosCVL)
