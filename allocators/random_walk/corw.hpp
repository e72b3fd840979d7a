// This file registers CoRW (collaborative_walk.hpp).
#pragma once

#include "allocators/random_walk/collaborative_walk.hpp"

namespace allocbench {

struct CollaborativeRandomWalk : random_walk::CollaborativeWalk<random_walk::Locking::lock_map> {
  static constexpr Traits traits{.name = "corw",
                                 .display_name = "CoRW",
                                 .paper = "Pham et al. 2025, sec. 4.1",
                                 .summary = "the lanes of a warp probe locked bitmap words and share what they find",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static CollaborativeRandomWalk create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct CollaborativeRandomWalk64 : random_walk::CollaborativeWalk<random_walk::Locking::lock_map, std::uint64_t> {
  static constexpr Traits traits{.name = "corw_64",
                                 .display_name = "CoRW, words of 64",
                                 .paper = "Pham et al. 2025, sec. 4.1",
                                 .summary = "as corw, with 64 pages to a word of the bitmap",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static CollaborativeRandomWalk64 create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(corw, CollaborativeRandomWalk, CollaborativeRandomWalk64)
