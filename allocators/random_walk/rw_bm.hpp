// This file registers RW-BM (bitmap_walk.hpp).
#pragma once

#include "allocators/random_walk/bitmap_walk.hpp"

namespace allocbench {

struct RandomWalkBitmap : random_walk::BitmapWalk<random_walk::Locking::lock_map> {
  static constexpr Traits traits{.name = "rw_bm",
                                 .display_name = "RW-BM",
                                 .paper = "Pham et al. 2025, sec. 3.3",
                                 .summary = "random probes of bitmap words, each locked by its bit of a second bitmap",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static RandomWalkBitmap create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct RandomWalkBitmap64 : random_walk::BitmapWalk<random_walk::Locking::lock_map, std::uint64_t> {
  static constexpr Traits traits{.name = "rw_bm_64",
                                 .display_name = "RW-BM, words of 64",
                                 .paper = "Pham et al. 2025, sec. 3.3",
                                 .summary = "as rw_bm, with 64 pages to a word of the bitmap",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static RandomWalkBitmap64 create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rw_bm, RandomWalkBitmap, RandomWalkBitmap64)
