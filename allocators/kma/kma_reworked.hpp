// This file registers the reworked form of KMA (combining_malloc.hpp).
#pragma once

#include "allocators/kma/combining_malloc.hpp"

namespace allocbench {

struct KmaReworked : kma::CombiningMalloc {
  static constexpr Traits traits{
      .name = "kma_reworked",
      .display_name = "KMA, reworked",
      .paper = "Spliet et al. 2014, sec. 4.2",
      .summary = "superblocks with bitmaps, one active per block size; lanes of a warp reserve together",
      .form = Form::reworked};
  static KmaReworked create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(kma_reworked, KmaReworked)
