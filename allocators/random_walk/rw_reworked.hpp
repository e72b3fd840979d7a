// This file registers the reworked form of RW (flag_walk.hpp).
#pragma once

#include "allocators/random_walk/flag_walk.hpp"

namespace allocbench {

struct RandomWalkReworked : random_walk::FlagWalk<random_walk::FirstProbe::exchanges> {
  static constexpr Traits traits{
      .name = "rw_reworked",
      .display_name = "RW, reworked",
      .paper = "Pham et al. 2025, sec. 3.1",
      .summary = "random probes of one flag per page, the first without a look; a page per request",
      .form = Form::reworked,
      .one_block_size = true,
      .step = StepUnit::probe};
  static RandomWalkReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rw_reworked, RandomWalkReworked)
