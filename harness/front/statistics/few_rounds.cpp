#include "harness/front/statistics/few_rounds.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "harness/front/statistics/logarithms.hpp"

namespace allocbench::front {
namespace {

std::optional<Interval> t_interval(const MeasuredSide& side, double least_variance) {
  if (*std::min_element(side.values.begin(), side.values.end()) <= 0) return std::nullopt;
  const Logarithms logs(side.values);
  const double step = side.clock_step / median(side.values);
  // Equal readings may hide differences within a clock step. The assumed variance is that of a uniform distribution
  // over a step.
  const double hidden_variance = step * step / 12;
  const double error =
      std::sqrt(logs.squared_error(std::max({logs.winsorised_variance(), least_variance, hidden_variance})));
  const boost::math::students_t_distribution<double> distribution(logs.degrees());
  // All readings may be off by half a step in the same direction.
  const double half = boost::math::quantile(distribution, (1 + confidence) / 2) * error + step / 2;
  if (half <= 0) return std::nullopt;
  return Interval{std::exp(logs.trimmed_mean() - half), std::exp(logs.trimmed_mean() + half)};
}

}  // namespace

FewRounds judged_by_few(MeasuredSide side, double least_variance) {
  const std::optional<Interval> interval = t_interval(side, least_variance);
  return {.values = std::move(side.values), .least_spread = std::sqrt(least_variance), .interval = interval};
}

}  // namespace allocbench::front
