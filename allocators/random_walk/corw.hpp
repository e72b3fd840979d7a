// CoRW: collaborative_walk.hpp.
#pragma once

#include "allocators/random_walk/collaborative_walk.hpp"

namespace allocbench {

struct CollaborativeRandomWalk : random_walk::CollaborativeWalk<random_walk::Locking::lock_map> {
  static constexpr Traits traits{.name = "corw",
                                 .display_name = "CoRW",
                                 .paper = "Pham et al. 2025, sec. 4.1",
                                 .summary = "the lanes of a warp probe locked bitmap words and share what they find",
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static CollaborativeRandomWalk create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(corw, CollaborativeRandomWalk)
