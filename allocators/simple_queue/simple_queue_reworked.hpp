// This file registers the reworked form of SimpleQueue (page_queue.hpp).
#pragma once

#include "allocators/simple_queue/page_queue.hpp"

namespace allocbench {

struct SimpleQueueReworked : simple_queue::PageQueue<simple_queue::Tickets::per_warp> {
  static constexpr Traits traits{.name = "simple_queue_reworked",
                                 .display_name = "SimpleQueue, reworked",
                                 .paper = "Pham et al. 2025, sec. 5.1",
                                 .summary = "one ring buffer of free pages, tickets drawn once per warp",
                                 .form = Form::reworked,
                                 .one_block_size = true,
                                 .step = StepUnit::turn};
  static SimpleQueueReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(simple_queue_reworked, SimpleQueueReworked)
