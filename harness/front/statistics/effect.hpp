// This file tests whether two quantities measured in rounds differ. The test is a t test of the logarithms of the
// rounds' values, with Holm's correction for many such tests.
//
// The test is Yuen's (Biometrika 61, 1974, 165-170): Welch's test without the outermost values. At each end, it leaves
// out as many values as the interval of an estimate does (rounds.hpp). So outliers that do not widen that interval do
// not hide a difference. With six against six rounds, a rank test could not decide. Its smallest chance is 1 in 462,
// and a correction for a hundred cells multiplies this chance by a hundred. tests/harness/comparison_test.cpp counts
// false alarms.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/front/statistics/rounds.hpp"

namespace allocbench::front {

// Two rounds have only one difference, which does not show its own spread.
inline constexpr std::size_t least_compared_rounds = 3;

struct Effect {
  double ratio = 1;     // ratio of B to A: of the trimmed geometric means of the rounds, or of stored centres
  Interval interval{};  // interval of the ratio at `confidence`, not corrected for other tests
  double chance = 1;    // chance of a difference at least as large between equal sides
};

// A side with one value per round. log_side() needs positive values, and at least least_compared_rounds of them.
struct MeasuredSide {
  std::vector<double> values;
  double clock_step = 0;
};

// A side that was kept without samples.
struct StoredSide {
  double centre = 0;    // centre of the values; positive, as are the bounds of `interval`
  Interval interval{};  // interval that rounds.hpp computes, at `confidence`
  std::size_t rounds = 0;
  double clock_step = 0;
};

// A side on the scale of logarithms.
struct LogSide {
  double centre = 0;
  double variance = 0;     // variance of the rounds
  double error_share = 0;  // squared error of the centre, as a share of the variance
  double degrees = 0;
  double slack = 0;  // largest error that all readings may share: half a clock step
};

LogSide log_side(const MeasuredSide& side);
// Treats the interval as that of a t test, so that its width gives the error.
LogSide log_side(const StoredSide& side);

// Returns the variance of the logarithms with the outermost values moved inwards (winsorised). For two sides, returns
// their pooled variance, each side around its own mean.
double log_variance(const std::vector<double>& values);
double log_variance(const LogSide& a, const LogSide& b);

// Returns the effect. The test assumes that the logarithms of a side's values have at least the variance
// `least_variance`, even if these values are closer together.
Effect effect_of(const LogSide& a, const LogSide& b, double least_variance);

// Enlarges the chances by Holm's method (Scandinavian Journal of Statistics 6, 1979, 65-70). If each is compared with
// 5 %, the chance of any false alarm among them is at most 5 %. The result has the order of the input.
std::vector<double> holm(const std::vector<double>& chances);

}  // namespace allocbench::front
