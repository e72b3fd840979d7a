// These functions compute statistics of a vector of values.
#pragma once

#include <vector>

namespace allocbench::front {

// All of these functions need at least one value.
double median(std::vector<double> values);
double mean(const std::vector<double>& values);
// Divides by n - 1, as for a sample. Returns 0 for a single value.
double standard_deviation(const std::vector<double>& values);
// Interpolates between the two nearest ranks, as numpy does by default. `share` is in [0, 1].
double quantile(std::vector<double> values, double share);

}  // namespace allocbench::front
