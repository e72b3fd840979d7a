// This file registers SimpleQueue (page_queue.hpp).
#pragma once

#include "allocators/simple_queue/page_queue.hpp"

namespace allocbench {

struct SimpleQueue : simple_queue::PageQueue<simple_queue::Tickets::per_lane> {
  static constexpr Traits traits{.name = "simple_queue",
                                 .display_name = "SimpleQueue",
                                 .paper = "Pham et al. 2025, sec. 5.1",
                                 .summary = "one ring buffer of free pages, a ticket per request: the queue model",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::turn};
  static SimpleQueue create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(simple_queue, SimpleQueue)
