#include "harness/front/statistics/rounds.hpp"

#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

Rounds of_values(const std::vector<double>& values) {
  Rounds rounds;
  for (const double value : values) rounds.push_back({value});
  return rounds;
}

TEST(Rounds, ARoundCountsAsOneValue) {
  const Rounds rounds = {{1, 2, 30}, {4}, {3, 5}};
  EXPECT_EQ(values_of(rounds, Statistic::median), (std::vector<double>{2, 4, 4}));
  EXPECT_EQ(values_of(rounds, Statistic::mean), (std::vector<double>{11, 4, 4}));
  EXPECT_EQ(estimate(rounds, Statistic::median, 0).centre, 4);
}

TEST(Rounds, FiveHaveNoIntervalAndSayWhy) {
  const Estimate five = estimate(of_values({1, 2, 3, 4, 5}), Statistic::median, 0);
  EXPECT_EQ(five.centre, 3);
  EXPECT_FALSE(five.interval.has_value());
  EXPECT_FALSE(five.relative_half_width().has_value());
  EXPECT_EQ(five.why_no_interval, "5 of the 6 rounds that an interval needs");
  EXPECT_TRUE(estimate(of_values({1, 2, 3, 4, 5, 6}), Statistic::median, 0).interval.has_value());
}

// Samples of one process predict nothing about the next process, however many there are.
TEST(Rounds, ManySamplesOfOneRoundHaveNoInterval) {
  EXPECT_FALSE(estimate({std::vector<double>(1000, 1.0)}, Statistic::median, 0).interval.has_value());
}

// The numbers were computed by hand, with the chances 1 - 2 P(B < d) from tables, where B is binomial(n, 1/2), and with
// the weight of Hettmansperger & Sheather 1986.
TEST(Rounds, TheIntervalLiesBetweenOrderStatistics) {
  // For n = 6, the coverage is 0.96875 between ranks 1 and 6 and 0.78125 between 2 and 5; the share s is 0.0466667, and
  // the weight 5 s / (1 + 4 s).
  const auto six = estimate(of_values({6, 2, 4, 1, 5, 3}), Statistic::median, 0).interval;
  EXPECT_NEAR(six->low, 1.196629, 1e-6);
  EXPECT_NEAR(six->high, 5.803371, 1e-6);
  // For n = 12, the coverage is 0.9614258 between ranks 3 and 10 and 0.8540039 between 4 and 9; the share s is
  // 0.0132727, and the weight 9 s / (3 + 6 s).
  const auto twelve = estimate(of_values({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), Statistic::median, 0).interval;
  EXPECT_NEAR(twelve->low, 3.038789, 1e-6);
  EXPECT_NEAR(twelve->high, 9.961211, 1e-6);
}

TEST(Rounds, TheOrderOfRoundsMeansNothing) {
  const auto one = estimate(of_values({1, 9, 2, 8, 3, 7, 4}), Statistic::median, 0).interval;
  const auto other = estimate(of_values({9, 8, 7, 4, 3, 2, 1}), Statistic::median, 0).interval;
  EXPECT_EQ(one->low, other->low);
  EXPECT_EQ(one->high, other->high);
}

TEST(Rounds, EqualReadingsLeaveHalfAStepOfTheClock) {
  const Estimate equal = estimate(Rounds(6, {3.2e-6, 3.2e-6}), Statistic::median, device_clock_step);
  EXPECT_DOUBLE_EQ(equal.interval->low, 3.184e-6);
  EXPECT_DOUBLE_EQ(equal.interval->high, 3.216e-6);
  EXPECT_NEAR(*equal.relative_half_width(), 0.005, 1e-12);
}

TEST(Rounds, TheHalfWidthOfACounterAtZeroIsNoShare) {
  const Estimate zeros = estimate(Rounds(6, {0.0}), Statistic::median, 0);
  EXPECT_EQ(zeros.interval->high, 0);
  EXPECT_FALSE(zeros.relative_half_width().has_value());
}

TEST(Rounds, ManyRoundsNarrowTheInterval) {
  std::vector<double> values;
  for (int value = 1; value <= 1000; ++value) values.push_back(value);
  const auto interval = estimate(of_values(values), Statistic::median, 0).interval;
  // One standard deviation of the binomial distribution is sqrt(1000) / 2 ranks, and ±2.05 of them contain 96 %.
  EXPECT_NEAR(interval->low, 500.5 - 2.054 * 15.811, 1);
  EXPECT_NEAR(interval->high, 500.5 + 2.054 * 15.811, 1);
}

}  // namespace
}  // namespace allocbench::front
