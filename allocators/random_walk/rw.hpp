// This file registers RW (flag_walk.hpp).
#pragma once

#include "allocators/random_walk/flag_walk.hpp"

namespace allocbench {

struct RandomWalk : random_walk::FlagWalk<random_walk::FirstProbe::looks> {
  static constexpr Traits traits{.name = "rw",
                                 .display_name = "RW",
                                 .paper = "Pham et al. 2025, sec. 3.1",
                                 .summary = "random probes of one flag per page; a page per request",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static RandomWalk create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rw, RandomWalk)
