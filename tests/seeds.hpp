// seeds() returns the number of schedules that a test tries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace allocbench::testing {

// Returns `usual` times the environment variable ALLOCBENCH_SEED_FACTOR (1 if unset), rounded up, but at least 1. A
// factor of 10 suits a long search. Test presets with a sanitizer use 0.1, because they do not look for rare schedules.
inline std::uint64_t seeds(std::uint64_t usual) {
  const char* const factor = std::getenv("ALLOCBENCH_SEED_FACTOR");
  if (factor == nullptr) return usual;
  return static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(static_cast<double>(usual) * std::strtod(factor, nullptr))));
}

}  // namespace allocbench::testing
