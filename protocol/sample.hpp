// These types are the parts of a sample, the result of one timed repetition of a cell: phases with times, and counters.
// The header does not use JSON, because workloads fill these structs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace allocbench {

// Time for the samples of a cell in a round, including resets, copies and checks. A round counts as one value. So
// further samples of a slow cell in the same round hardly narrow the cell's interval.
inline constexpr double sampling_seconds = 0.02;

// One timed part of a sample.
struct Phase {
  std::string name;
  double seconds = 0;
  std::uint64_t operations = 0;
  // The reason why the time may include the host's launch latency: the phase started before the host had enqueued all
  // of it. Empty if the phase was held back, or if it needs no hold (launches that run in the caller, pure host work).
  std::string not_held = {};
};

// Name and value of a further number of a sample, such as a count (mallocs, frees, null returns), a share or a mean.
using Counter = std::pair<std::string, double>;

}  // namespace allocbench
