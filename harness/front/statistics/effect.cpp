#include "harness/front/statistics/effect.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "harness/front/statistics/logarithms.hpp"

namespace allocbench::front {

double log_variance(const std::vector<double>& values) { return Logarithms(values).winsorised_variance(); }

double log_variance(const std::vector<double>& a, const std::vector<double>& b) {
  const Logarithms of_a(a);
  const Logarithms of_b(b);
  const double squares = of_a.winsorised_variance() * of_a.degrees() + of_b.winsorised_variance() * of_b.degrees();
  return squares / (of_a.degrees() + of_b.degrees());
}

Effect effect_of(const MeasuredSide& a, const MeasuredSide& b, double least_variance) {
  const Logarithms logs_of_a(a.values);
  const Logarithms logs_of_b(b.values);
  const double shift = logs_of_b.trimmed_mean() - logs_of_a.trimmed_mean();
  // All readings of a side may be off by half a step in the same direction.
  const double slack = (a.clock_step / median(a.values) + b.clock_step / median(b.values)) / 2;
  const double beyond_clock = std::max(0.0, std::abs(shift) - slack);
  const double of_a = logs_of_a.squared_error(std::max(logs_of_a.winsorised_variance(), least_variance));
  const double of_b = logs_of_b.squared_error(std::max(logs_of_b.winsorised_variance(), least_variance));
  const double error = std::sqrt(of_a + of_b);
  Effect result{.ratio = std::exp(shift)};
  if (error == 0) {
    result.interval = {std::exp(shift - slack), std::exp(shift + slack)};
    result.chance = beyond_clock > 0 ? 0 : 1;
    return result;
  }
  // Welch's approximation, with Satterthwaite's degrees of freedom.
  const double degrees =
      (of_a + of_b) * (of_a + of_b) / (of_a * of_a / logs_of_a.degrees() + of_b * of_b / logs_of_b.degrees());
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
