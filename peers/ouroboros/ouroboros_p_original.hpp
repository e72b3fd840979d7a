// This file registers the authors' page-based forms of Ouroboros (library.hpp).
#pragma once

#include "peers/ouroboros/library.hpp"

namespace allocbench {

struct OuroborosPSOriginal : ouroboros_original::Adapter<OuroPQ> {
  static constexpr Traits traits = ouroboros_original::traits_of("ouroboros_p_s_original", "Ouroboros P-S, original",
                                                                 "the authors' code: queues of pages in flat rings");
  static OuroborosPSOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

struct OuroborosPVAOriginal : ouroboros_original::Adapter<OuroVAPQ> {
  static constexpr Traits traits = ouroboros_original::traits_of(
      "ouroboros_p_va_original", "Ouroboros P-VA, original", "the authors' code: queues of pages that an array finds");
  static OuroborosPVAOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

struct OuroborosPVLOriginal : ouroboros_original::Adapter<OuroVLPQ> {
  static constexpr Traits traits = ouroboros_original::traits_of("ouroboros_p_vl_original", "Ouroboros P-VL, original",
                                                                 "the authors' code: queues of pages in linked chunks");
  static OuroborosPVLOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(ouroboros_p_original, OuroborosPSOriginal, OuroborosPVAOriginal, OuroborosPVLOriginal)
