// This file computes the estimate of a quantity measured in rounds, each in its own process, and the interval of the
// estimate.
//
// A round counts as one value, the statistic of its samples. Samples of one process share its memory layout and clock
// phase, so they predict little about the next process. The estimate is the median of the rounds' values. The bounds of
// its interval are interpolated between neighbours of the sorted values. This assumes little about the distribution,
// because the number of values below the median is binomial for every continuous distribution. So the interval also
// suits values with two modes, which times of processes often have. docs/methodology-measurement.md has the reasons and
// the coverage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench::front {

// The coverage that the intervals promise.
inline constexpr double confidence = 0.95;
// The smallest and the largest of six values enclose the median in 96.9 % of all cases. The smallest and the largest of
// five values do so in 93.75 %.
inline constexpr std::size_t least_rounds = 6;
// A value from at least this many rounds is never provisional. If fewer rounds are configured, all of them are enough.
// A cell with a long sample ends at the latest when it has this many rounds (stopping.hpp).
inline constexpr std::size_t least_rounds_of_numbers = 3;

// Returns whether a value from this number of complete rounds is provisional: shown, but not judged. A cell with one
// round by design is not provisional. `configured` is the largest number of rounds of the cell.
constexpr bool is_provisional(std::size_t rounds, std::uint64_t configured) {
  return rounds < std::min<std::uint64_t>(least_rounds_of_numbers, configured);
}

// Clock step of CUDA events in seconds.
inline constexpr double device_clock_step = 32e-9;

struct Interval {
  double low;
  double high;
};

// The samples of one quantity in one cell, by round. No round is empty.
using Rounds = std::vector<std::vector<double>>;

// The statistic that turns the samples of a round into its value.
enum class Statistic { median, mean };

// Returns the statistic with the name "median" or "mean".
Statistic statistic_named(std::string_view name);
std::string_view name_of(Statistic statistic);

struct Estimate {
  double centre = 0;
  std::optional<Interval> interval = {};
  std::string why_no_interval = {};  // sentence with the reason; empty if there is an interval

  // Returns half the width of the interval, divided by the centre. Returns nullopt without an interval or if the centre
  // is not positive.
  std::optional<double> relative_half_width() const;
};

// Returns the clock step for one phase of a cell with this many phases, `total` included. A `total` of several other
// phases is their sum, so it has one step for each of them. On the CPU back end the result is 0, because the steps of
// its clock are negligible.
double clock_step_of(std::string_view backend, std::string_view phase, std::size_t phases);

// Returns the rank of the interval's widest bounds, counted from 1 at each end of the sorted values. Interpolation
// moves the bounds a part of the way to the next rank.
std::size_t rank_of_interval(std::size_t rounds);

// Returns one value per round, in the order of the rounds.
std::vector<double> values_of(const Rounds& rounds, Statistic statistic);

// Returns the estimate from at least one round. Readings of the clock are multiples of `clock_step`. For other
// quantities `clock_step` is 0.
Estimate estimate(const Rounds& rounds, Statistic statistic, double clock_step);

}  // namespace allocbench::front
