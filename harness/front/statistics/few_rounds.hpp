// These functions estimate a number from three to five rounds. For this number of rounds, no interval reaches 95 % for
// every distribution (rounds.hpp), and figures draw none. A t interval of the logarithms assumes a distribution. Such
// an interval is enough to judge a claim about a large factor. docs/methodology-measurement.md states its coverage.
#pragma once

#include <optional>
#include <vector>

#include "harness/front/statistics/effect.hpp"

namespace allocbench::front {

struct FewRounds {
  std::vector<double> values;  // one value per round
  double least_spread = 0;     // assumed least standard deviation of the logarithms
  // The t interval of the number. It is empty if a value is not positive, or if all values are equal and neither a
  // least deviation nor a clock step widens the interval.
  std::optional<Interval> interval;
};

// Returns whether this number of rounds is too small for an interval (rounds.hpp) but enough for a t interval.
constexpr bool are_few(std::size_t rounds) { return rounds >= least_rounds_of_numbers && rounds < least_rounds; }

// Estimates a number from few rounds. `least_variance` has the same meaning as for effect_of().
FewRounds judged_by_few(MeasuredSide side, double least_variance);

}  // namespace allocbench::front
