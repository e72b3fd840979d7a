// What one timed repetition of a cell gives: phases with times, and counters. Free of JSON: workloads fill them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace allocbench {

// One timed part of a sample.
struct Phase {
  std::string name;
  double seconds = 0;
  std::uint64_t operations = 0;
  // Why the host's launch latency may be in the time: the phase was not held back until all of it was enqueued. Empty
  // when it was, or where launches run in the caller.
  std::string not_held = {};
};

// A number that belongs to a sample and is not a time: a count (mallocs, frees, null returns), a share, a mean.
using Counter = std::pair<std::string, double>;

}  // namespace allocbench
