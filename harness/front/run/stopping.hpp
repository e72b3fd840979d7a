// This file decides when a cell has been measured enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/plan/plan.hpp"
#include "protocol/event.hpp"

namespace allocbench::front {

// Longest time of a sample's phases that does not count as long. A round with a long sample gets no further sample, and
// its cell ends as soon as it has `least_rounds_of_numbers` rounds.
inline constexpr double long_sample_seconds = 0.1;

using SampledRounds = std::vector<std::vector<protocol::Sample>>;

// The reasons in the log and the results.
namespace stop {
inline constexpr const char* precision = "precision reached";
inline constexpr const char* rounds = "rounds used up";
inline constexpr const char* long_samples = "three rounds of long samples";
inline constexpr const char* wall = "wall bound";
inline constexpr const char* time = "time of the study";
}  // namespace stop

// Returns why the cell gets no more rounds, or nullopt if it gets another one. `wall_seconds` is the time of its
// rounds.
std::optional<std::string> reason_to_stop(const Cell& cell, const SampledRounds& rounds, double wall_seconds);

// Returns the number of samples for the next command of a round that already has `samples`. The number is that of the
// samples that fit into the rest of the round's time. The slowest sample of this round, or of the last one, gives the
// time of a sample. 0 means that the round has enough.
std::uint64_t samples_to_ask_for(const Cell& cell, const std::vector<protocol::Sample>& samples,
                                 const SampledRounds& earlier);

// Returns half the width of the widest phase's interval, as a share of that phase's time, or nullopt if a phase has no
// interval.
std::optional<double> relative_half_width(const SampledRounds& sampled, const Cell& cell);

}  // namespace allocbench::front
