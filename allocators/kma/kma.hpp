// KMA as published: malloc.hpp.
#pragma once

#include "allocators/kma/malloc.hpp"

namespace allocbench {

struct Kma : kma::Malloc<kma::Combining::none> {
  static constexpr Traits traits{
      .name = "kma",
      .display_name = "KMA",
      .paper = "Spliet et al. 2014, sec. 4.2",
      .summary = "as printed, but for the safe order in free: every thread reserves by its own compare-exchange"};
  static Kma create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters, traits.name)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(kma, Kma)
