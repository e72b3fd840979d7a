// Statistics of samples: free functions on a vector, nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace allocbench::front {

// All of these want at least one value.
double median(std::vector<double> values);
double mean(const std::vector<double>& values);
// Of a sample (n - 1); 0 for a single value.
double standard_deviation(const std::vector<double>& values);
// Linear between the two nearest ranks, as numpy's default; share in [0, 1].
double quantile(std::vector<double> values, double share);

struct Interval {
  double low;
  double high;
};

using Estimator = double (*)(const std::vector<double>&);

// The percentile bootstrap's 95 % interval of an estimator. Deterministic: the resamples are drawn from the seed alone.
// nullopt for fewer than three values: their resamples say nothing about the spread.
std::optional<Interval> bootstrap_interval(const std::vector<double>& values, Estimator estimator, std::uint64_t seed);

// "median" or "mean".
Estimator estimator_named(std::string_view name);

}  // namespace allocbench::front
