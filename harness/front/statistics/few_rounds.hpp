// What three to five rounds say about a number. They have no interval that holds for every distribution (rounds.hpp),
// so figures draw none. A t interval of the logarithms assumes a distribution, and is enough to judge a sentence whose
// number lies factors away. docs/methodology-measurement.md says what it covers.
#pragma once

#include <optional>
#include <vector>

#include "harness/front/statistics/effect.hpp"

namespace allocbench::front {

struct FewRounds {
  std::vector<double> values;        // one per round
  double least_spread = 0;           // the deviation of their logarithms is taken to be at least this
  std::optional<Interval> interval;  // none for values that are not positive, or all equal with nothing to widen them
};

// Whether so many rounds are too few for an interval (rounds.hpp), and enough for this one.
constexpr bool are_few(std::size_t rounds) { return rounds >= least_rounds_of_numbers && rounds < least_rounds; }

// `least_variance`: as for effect_of.
FewRounds judged_by_few(MeasuredSide side, double least_variance);

}  // namespace allocbench::front
