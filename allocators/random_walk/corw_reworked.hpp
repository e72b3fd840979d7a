// This file registers the reworked form of CoRW (collaborative_walk.hpp).
#pragma once

#include "allocators/random_walk/collaborative_walk.hpp"

namespace allocbench {

struct CollaborativeRandomWalkReworked : random_walk::CollaborativeWalk<random_walk::Locking::none> {
  static constexpr Traits traits{.name = "corw_reworked",
                                 .display_name = "CoRW, reworked",
                                 .paper = "Pham et al. 2025, sec. 4.1",
                                 .summary = "the lanes of a warp probe a line of the bitmap and share what they find",
                                 .form = Form::reworked,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static CollaborativeRandomWalkReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(corw_reworked, CollaborativeRandomWalkReworked)
