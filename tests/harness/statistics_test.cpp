#include "harness/front/results/statistics.hpp"

#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

TEST(Statistics, LiteralNumbers) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({5, 1, 9}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(mean({1, 2, 6}), 3);
  EXPECT_EQ(standard_deviation({5}), 0);
  EXPECT_DOUBLE_EQ(standard_deviation({2, 4, 4, 4, 5, 5, 7, 9}), 2.138089935299395);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.25), 1.75);  // numpy.quantile gives the same
  EXPECT_EQ(quantile({1, 2, 3, 4}, 1), 4);
}

TEST(Bootstrap, TellsNothingAboutTwoSamples) {
  EXPECT_FALSE(bootstrap_interval({1, 2}, mean, 1).has_value());
  EXPECT_TRUE(bootstrap_interval({1, 2, 3}, mean, 1).has_value());
}

TEST(Bootstrap, IsDeterministic) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto one = bootstrap_interval(values, mean, 42);
  const auto again = bootstrap_interval(values, mean, 42);
  const auto other = bootstrap_interval(values, mean, 43);
  EXPECT_EQ(one->low, again->low);
  EXPECT_EQ(one->high, again->high);
  EXPECT_TRUE(one->low != other->low || one->high != other->high);
}

TEST(Bootstrap, HasTheRightWidth) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  // Theory for the mean: 5.5 ± 1.96 * 2.87 / sqrt(10).
  const auto interval = bootstrap_interval(values, mean, 1);
  EXPECT_NEAR(interval->low, 3.72, 0.15);
  EXPECT_NEAR(interval->high, 7.28, 0.15);
}

TEST(Bootstrap, EqualSamplesHaveNoWidth) {
  const auto interval = bootstrap_interval({2, 2, 2, 2}, estimator_named("median"), 1);
  EXPECT_EQ(interval->low, 2);
  EXPECT_EQ(interval->high, 2);
}

}  // namespace
}  // namespace allocbench::front
