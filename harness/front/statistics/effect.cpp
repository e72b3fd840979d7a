#include "harness/front/statistics/effect.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "harness/front/statistics/logarithms.hpp"

namespace allocbench::front {

double log_variance(const std::vector<double>& values) { return Logarithms(values).winsorised_variance(); }

double log_variance(const LogSide& a, const LogSide& b) {
  return (a.variance * a.degrees + b.variance * b.degrees) / (a.degrees + b.degrees);
}

LogSide log_side(const MeasuredSide& side) {
  const Logarithms logs(side.values);
  return {.centre = logs.trimmed_mean(),
          .variance = logs.winsorised_variance(),
          .error_share = logs.squared_error(1),
          .degrees = logs.degrees(),
          .slack = side.clock_step / median(side.values) / 2};
}

LogSide log_side(const StoredSide& side) {
  const auto rounds = static_cast<double>(side.rounds);
  const double kept = rounds - 2 * static_cast<double>(rank_of_interval(side.rounds) - 1);
  LogSide made{.centre = std::log(side.centre),
               .error_share = (rounds - 1) / (kept * (kept - 1)),
               .degrees = kept - 1,
               .slack = side.clock_step / side.centre / 2};
  const boost::math::students_t_distribution<double> distribution(made.degrees);
  const double half = std::max(0.0, std::log(side.interval.high / side.interval.low) / 2 - made.slack);
  const double error = half / boost::math::quantile(distribution, (1 + confidence) / 2);
  made.variance = error * error / made.error_share;
  return made;
}

Effect effect_of(const LogSide& a, const LogSide& b, double least_variance) {
  const double shift = b.centre - a.centre;
  const double slack = a.slack + b.slack;
  const double beyond_clock = std::max(0.0, std::abs(shift) - slack);
  const double of_a = a.error_share * std::max(a.variance, least_variance);
  const double of_b = b.error_share * std::max(b.variance, least_variance);
  const double error = std::sqrt(of_a + of_b);
  Effect result{.ratio = std::exp(shift)};
  if (error == 0) {
    result.interval = {std::exp(shift - slack), std::exp(shift + slack)};
    result.chance = beyond_clock > 0 ? 0 : 1;
    return result;
  }
  // This is Welch's approximation, with Satterthwaite's degrees of freedom.
  const double degrees = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / a.degrees + of_b * of_b / b.degrees);
  const boost::math::students_t_distribution<double> distribution(degrees);
  const double half = boost::math::quantile(distribution, (1 + confidence) / 2) * error + slack;
  result.interval = {std::exp(shift - half), std::exp(shift + half)};
  result.chance = 2 * boost::math::cdf(boost::math::complement(distribution, beyond_clock / error));
  return result;
}

std::vector<double> holm(const std::vector<double>& chances) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t one, std::size_t other) { return chances[one] < chances[other]; });
  std::vector<double> adjusted(chances.size());
  double largest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto left = static_cast<double>(order.size() - place);
    largest = std::max(largest, std::min(1.0, left * chances[order[place]]));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

}  // namespace allocbench::front
