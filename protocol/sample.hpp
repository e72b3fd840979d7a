// What one timed repetition of a cell gives: phases with times, and counters; and how long a round repeats it. Free of
// JSON: workloads fill them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace allocbench {

// What the samples of a cell take in a round, with resets, copies and checks. A round counts as one value, which many
// samples of an expensive cell hardly improve.
inline constexpr double sampling_seconds = 0.02;

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
