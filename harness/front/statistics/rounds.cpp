#include "harness/front/statistics/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

#include "harness/front/statistics/statistics.hpp"

namespace allocbench::front {
namespace {

// Intervals are computed for this coverage. It is higher than the promised coverage `confidence`, because two things
// reduce the coverage. Runs stop when an interval becomes narrow. If values have two modes, an interpolated bound may
// lie between the modes.
constexpr double taken_confidence = 0.96;

// Returns the probability that the median is between the two values of this rank, counted from the low and from the
// high end. Ranks count from 1.
double coverage(std::size_t values, std::size_t rank) {
  const boost::math::binomial_distribution<double> below(static_cast<double>(values), 0.5);
  return 1 - 2 * boost::math::cdf(below, static_cast<double>(rank - 1));
}

// Interpolates after Hettmansperger & Sheather 1986 (Statistics & Probability Letters 4, 75-79). Between two ranks, the
// interpolation that reaches the coverage hardly depends on the distribution.
Interval order_statistics(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const std::size_t rank = rank_of_interval(count);
  const double outer = coverage(count, rank);
  const double inner = rank < count / 2 ? coverage(count, rank + 1) : 0;
  const double share = (outer - taken_confidence) / (outer - inner);
  const auto n = static_cast<double>(count);
  const auto d = static_cast<double>(rank);
  const double weight = (n - d) * share / (d + (n - 2 * d) * share);
  const auto between = [&](std::size_t outer_index, std::size_t inner_index) {
    return (1 - weight) * values[outer_index] + weight * values[inner_index];
  };
  return {between(rank - 1, rank), between(count - rank, count - rank - 1)};
}

}  // namespace

Statistic statistic_named(std::string_view name) { return name == "mean" ? Statistic::mean : Statistic::median; }

std::string_view name_of(Statistic statistic) { return statistic == Statistic::mean ? "mean" : "median"; }

std::optional<double> Estimate::relative_half_width() const {
  if (!interval || centre <= 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / centre;
}

double clock_step_of(std::string_view backend, std::string_view phase, std::size_t phases) {
  if (backend != "cuda") return 0;
  return device_clock_step * static_cast<double>(phase == "total" && phases > 1 ? phases - 1 : 1);
}

std::size_t rank_of_interval(std::size_t rounds) {
  std::size_t rank = 1;
  while (rank < rounds / 2 && coverage(rounds, rank + 1) >= taken_confidence) ++rank;
  return rank;
}

std::vector<double> values_of(const Rounds& rounds, Statistic statistic) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const std::vector<double>& samples : rounds) {
    values.push_back(statistic == Statistic::mean ? mean(samples) : median(samples));
  }
  return values;
}

Estimate estimate(const Rounds& rounds, Statistic statistic, double clock_step) {
  const std::vector<double> values = values_of(rounds, statistic);
  Estimate result{.centre = median(values)};
  if (values.size() < least_rounds) {
    result.why_no_interval = fmt::format("{} of the {} rounds that an interval needs", values.size(), least_rounds);
    return result;
  }
  Interval interval = order_statistics(values);
  // Clock readings are rounded, and rounding keeps the order, so the exact bounds are at most half a step away.
  interval.low -= clock_step / 2;
  interval.high += clock_step / 2;
  result.interval = interval;
  return result;
}

}  // namespace allocbench::front
