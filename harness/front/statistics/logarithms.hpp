// This file computes the logarithms of a side's values, for statements about ratios. Only the units of this folder
// include this header.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/front/statistics/rounds.hpp"
#include "harness/front/statistics/statistics.hpp"

namespace allocbench::front {

// Logarithms is the centre and the spread of the logarithms of values. It leaves out as many of the outermost values as
// the interval of an estimate does (rounds.hpp): none if there are fewer than nine.
class Logarithms {
 public:
  explicit Logarithms(const std::vector<double>& values) : logs_(values.size()) {
    std::transform(values.begin(), values.end(), logs_.begin(), [](double value) { return std::log(value); });
    std::sort(logs_.begin(), logs_.end());
    left_out_ = rank_of_interval(logs_.size()) - 1;
  }

  double trimmed_mean() const { return mean({logs_.begin() + offset(), logs_.end() - offset()}); }

  double winsorised_variance() const {
    std::vector<double> moved = logs_;
    std::fill(moved.begin(), moved.begin() + offset(), logs_[left_out_]);
    std::fill(moved.end() - offset(), moved.end(), logs_[logs_.size() - 1 - left_out_]);
    const double deviation = standard_deviation(moved);
    return deviation * deviation;
  }

  // Returns the squared error of the trimmed mean. `variance` is the winsorised variance.
  double squared_error(double variance) const {
    const auto count = static_cast<double>(logs_.size());
    return variance * (count - 1) / (kept() * (kept() - 1));
  }

  double degrees() const { return kept() - 1; }

 private:
  std::ptrdiff_t offset() const { return static_cast<std::ptrdiff_t>(left_out_); }
  double kept() const { return static_cast<double>(logs_.size() - 2 * left_out_); }

  std::vector<double> logs_;
  std::size_t left_out_ = 0;  // values left out at either end
};

}  // namespace allocbench::front
