// seeds() is the number of schedules that a test tries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace allocbench::testing {

// Returns `usual` times the environment variable ALLOCBENCH_SEED_FACTOR, at least 1. The factor is 10 for a long
// search, and 0.1 under a sanitizer, which looks for bad paths and not for rare schedules.
inline std::uint64_t seeds(std::uint64_t usual) {
  const char* const factor = std::getenv("ALLOCBENCH_SEED_FACTOR");
  if (factor == nullptr) return usual;
  return static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(static_cast<double>(usual) * std::strtod(factor, nullptr))));
}

}  // namespace allocbench::testing
