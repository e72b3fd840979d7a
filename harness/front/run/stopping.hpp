// This file decides when a cell has been measured enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/plan/plan.hpp"
#include "protocol/event.hpp"

namespace allocbench::front {

// A sample whose phases together take longer than this is a long sample. After a long sample, a round gets no further
// sample. A cell with a long sample ends at the latest when it has `least_long_rounds` rounds.
inline constexpr double long_sample_seconds = 0.1;

using SampledRounds = std::vector<std::vector<protocol::Sample>>;

// The reasons in the log and the results.
namespace stop {
inline constexpr const char* precision = "precision reached";
inline constexpr const char* rounds = "rounds used up";
inline constexpr const char* long_samples = "three rounds of long samples";
inline constexpr const char* exact_long_samples = "least_rounds of long samples";
inline constexpr const char* wall = "wall bound";
inline constexpr const char* time = "time of the study";
}  // namespace stop

// Returns why the cell gets no more rounds, or nullopt if it gets another one. `wall_seconds` is the time of its
// rounds.
std::optional<std::string> reason_to_stop(const Cell& cell, const SampledRounds& rounds, double wall_seconds);

// Returns the number of samples for the next command of a round that already has `samples`: those that fill the rest of
// its time, up to the configured number. The slowest sample of this round, or of the previous round if this one has
// none, gives the time of a sample. Without such a sample the result is 1.
std::uint64_t samples_to_ask_for(const Cell& cell, const std::vector<protocol::Sample>& samples,
                                 const SampledRounds& earlier);

// Returns the largest Estimate::relative_half_width() of the cell's phases, or nullopt if a phase has none.
std::optional<double> relative_half_width(const SampledRounds& sampled, const Cell& cell);

}  // namespace allocbench::front
