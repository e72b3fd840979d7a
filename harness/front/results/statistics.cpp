#include "harness/front/results/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace allocbench::front {
namespace {

// ISO C++ has no 128-bit integer; all compilers of this project do.
__extension__ using Wide = unsigned __int128;

constexpr std::size_t resamples = 2000;
constexpr double confidence = 0.95;

}  // namespace

double quantile(std::vector<double> values, double share) {
  const double rank = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double low = *nth;
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(nth + 1, values.end());
  return low + (rank - static_cast<double>(below)) * (high - low);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<Interval> bootstrap_interval(const std::vector<double>& values, Estimator estimator, std::uint64_t seed) {
  if (values.size() < 3) return std::nullopt;
  std::mt19937_64 generator(seed);
  // std::uniform_int_distribution differs between standard libraries; results files must not.
  const auto draw = [&] { return static_cast<std::size_t>((static_cast<Wide>(generator()) * values.size()) >> 64); };
  std::vector<double> estimates(resamples);
  std::vector<double> resample(values.size());
  for (double& estimate : estimates) {
    for (double& value : resample) value = values[draw()];
    estimate = estimator(resample);
  }
  return Interval{quantile(estimates, (1 - confidence) / 2), quantile(estimates, (1 + confidence) / 2)};
}

Estimator estimator_named(std::string_view name) {
  if (name == "mean") return mean;
  return [](const std::vector<double>& values) { return median(values); };
}

}  // namespace allocbench::front
