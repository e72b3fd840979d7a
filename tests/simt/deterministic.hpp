// This file makes the options of an executor that runs the schedule of a seed, for all tests of the executor.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace simt::test {

inline ExecutorOptions deterministic(std::uint64_t seed) {
  ExecutorOptions options;
  options.mode = ExecutorMode::deterministic;
  options.seed = seed;
  return options;
}

}  // namespace simt::test
