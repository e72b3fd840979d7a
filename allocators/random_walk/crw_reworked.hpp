// This file registers the reworked form of CRW (clustered_walk.hpp).
#pragma once

#include "allocators/random_walk/clustered_walk.hpp"

namespace allocbench {

struct ClusteredRandomWalkReworked : random_walk::ClusteredWalk<random_walk::Locking::none> {
  static constexpr Traits traits{.name = "crw_reworked",
                                 .display_name = "CRW, reworked",
                                 .paper = "Pham et al. 2025, sec. 4.2",
                                 .summary = "RW-BM that first looks beside the page the thread took last",
                                 .form = Form::reworked,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static ClusteredRandomWalkReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(crw_reworked, ClusteredRandomWalkReworked)
