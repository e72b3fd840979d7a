// This file registers CRW (clustered_walk.hpp).
#pragma once

#include "allocators/random_walk/clustered_walk.hpp"

namespace allocbench {

struct ClusteredRandomWalk : random_walk::ClusteredWalk<random_walk::Locking::lock_map> {
  static constexpr Traits traits{.name = "crw",
                                 .display_name = "CRW",
                                 .paper = "Pham et al. 2025, sec. 4.2",
                                 .summary = "a thread looks beside its last page, then walks; bitmap words are locked",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static ClusteredRandomWalk create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

struct ClusteredRandomWalk64 : random_walk::ClusteredWalk<random_walk::Locking::lock_map, std::uint64_t> {
  static constexpr Traits traits{.name = "crw_64",
                                 .display_name = "CRW, words of 64",
                                 .paper = "Pham et al. 2025, sec. 4.2",
                                 .summary = "as crw, with 64 pages to a word of the bitmap",
                                 .form = Form::published,
                                 .one_block_size = true,
                                 .step = StepUnit::probe};
  static ClusteredRandomWalk64 create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(crw, ClusteredRandomWalk, ClusteredRandomWalk64)
