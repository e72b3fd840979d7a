// This file registers the authors' chunk-based forms of Ouroboros (library.hpp).
#pragma once

#include "peers/ouroboros/library.hpp"

namespace allocbench {

struct OuroborosCSOriginal : ouroboros_original::Adapter<OuroCQ> {
  static constexpr Traits traits = ouroboros_original::traits_of("ouroboros_c_s_original", "Ouroboros C-S, original",
                                                                 "the authors' code: queues of chunks in flat rings");
  static OuroborosCSOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

struct OuroborosCVAOriginal : ouroboros_original::Adapter<OuroVACQ> {
  static constexpr Traits traits = ouroboros_original::traits_of(
      "ouroboros_c_va_original", "Ouroboros C-VA, original", "the authors' code: queues of chunks that an array finds");
  static OuroborosCVAOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

struct OuroborosCVLOriginal : ouroboros_original::Adapter<OuroVLCQ> {
  static constexpr Traits traits = ouroboros_original::traits_of(
      "ouroboros_c_vl_original", "Ouroboros C-VL, original", "the authors' code: queues of chunks in linked chunks");
  static OuroborosCVLOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(ouroboros_c_original, OuroborosCSOriginal, OuroborosCVAOriginal, OuroborosCVLOriginal)
