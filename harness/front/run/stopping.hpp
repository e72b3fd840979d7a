// When a cell has been measured enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/plan/plan.hpp"
#include "harness/protocol/event.hpp"

namespace allocbench::front {

// A sample that runs longer is alone in its round, and its cell has three rounds; no sample starts after a round has
// sampled so long.
inline constexpr double long_sample_seconds = 0.1;
inline constexpr std::uint64_t rounds_of_long_samples = 3;

using SampledRounds = std::vector<std::vector<protocol::Sample>>;

// The words that the log and the results give as the reason.
namespace stop {
inline constexpr const char* precision = "precision reached";
inline constexpr const char* rounds = "rounds used up";
inline constexpr const char* long_samples = "three rounds of long samples";
inline constexpr const char* wall = "wall bound";
}  // namespace stop

// nullopt: the cell gets another round. `wall_seconds` is what its rounds took.
std::optional<std::string> reason_to_stop(const Cell& cell, const SampledRounds& rounds, double wall_seconds);

// Whether the round that took `samples` gets another one.
bool wants_sample(const Cell& cell, const std::vector<protocol::Sample>& samples);

// Half the width of the widest phase's interval, as a share of that phase's time; nullopt: a phase has no interval.
std::optional<double> relative_half_width(const SampledRounds& sampled, const Cell& cell);

}  // namespace allocbench::front
