// This file registers the reworked form of RW-BM (bitmap_walk.hpp).
#pragma once

#include "allocators/random_walk/bitmap_walk.hpp"

namespace allocbench {

struct RandomWalkBitmapReworked : random_walk::BitmapWalk<random_walk::Locking::none> {
  static constexpr Traits traits{.name = "rw_bm_reworked",
                                 .display_name = "RW-BM, reworked",
                                 .paper = "Pham et al. 2025, sec. 3.3",
                                 .summary = "random probes of a bitmap word of 32 pages; a page per request",
                                 .form = Form::reworked,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static RandomWalkBitmapReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rw_bm_reworked, RandomWalkBitmapReworked)
