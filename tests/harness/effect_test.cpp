#include "harness/front/statistics/effect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

const MeasuredSide a{{10, 11, 9.5, 10.5}, 0};
const MeasuredSide b{{12, 11.5, 12.5, 12.2, 11.9}, 0};

Effect effect_of(const MeasuredSide& one, const MeasuredSide& other, double least_variance) {
  return effect_of(log_side(one), log_side(other), least_variance);
}

double log_variance(const MeasuredSide& one, const MeasuredSide& other) {
  return log_variance(log_side(one), log_side(other));
}

// The expected values are from scipy.stats.ttest_ind(log b, log a, equal_var=False).
TEST(Effect, IsWelchsTestOfFewRounds) {
  const Effect found = effect_of(a, b, 0);
  EXPECT_NEAR(found.ratio, 1.173985629703299, 1e-9);
  EXPECT_NEAR(found.chance, 0.00881099545825669, 1e-9);
  EXPECT_NEAR(found.interval.low, 1.0683369708618713, 1e-9);
  EXPECT_NEAR(found.interval.high, 1.290081965091938, 1e-9);
  EXPECT_NEAR(log_variance(a, b), 0.0022507106821191137, 1e-12);
}

// The expected values are from scipy.stats.ttest_ind(log b, log a, equal_var=False, trim=1/9). Of nine rounds, one at
// each end is left out.
TEST(Effect, IsYuensTestOfMoreRounds) {
  const MeasuredSide straggling{{10, 11, 9.5, 10.5, 10.2, 10.1, 9.9, 10.3, 30}, 0};
  const MeasuredSide slower{{12, 11.5, 12.5, 12.2, 11.9, 12.1, 11.8, 12.3, 40}, 0};
  const Effect found = effect_of(straggling, slower, 0);
  EXPECT_NEAR(found.ratio, 1.178223820448466, 1e-9);
  EXPECT_NEAR(found.chance, 1.7752827523402134e-05, 1e-9);
}

// The values were computed by hand. Half the width of each side's interval is 2.5706 errors (a t of 5 degrees). Half
// the width of the ratio's interval is 2.2281 (10 degrees) times the root of the sum of both squared errors.
TEST(Effect, StoredIntervalsTellTheErrors) {
  const LogSide one = log_side(StoredSide{1, {0.99, 1.01}, 6, 0});
  const LogSide other = log_side(StoredSide{1.02, {1.02 * 0.99, 1.02 * 1.01}, 6, 0});
  const Effect found = effect_of(one, other, 0);
  EXPECT_NEAR(found.ratio, 1.02, 1e-12);
  EXPECT_NEAR(found.interval.low, 1.007572572, 1e-8);
  EXPECT_NEAR(found.interval.high, 1.032580709, 1e-8);
  EXPECT_NEAR(found.chance, 0.0048531, 1e-6);
  // One step of this clock is as wide as the whole interval, so no variance is left.
  const LogSide coarse = log_side(StoredSide{1, {0.99, 1.01}, 6, 0.02});
  EXPECT_NEAR(coarse.variance, 0, 1e-10);
  EXPECT_NEAR(coarse.slack, 0.01, 1e-12);
}

TEST(Effect, TheOtherWayRoundIsTheReciprocal) {
  const Effect one = effect_of(a, b, 0);
  const Effect other = effect_of(b, a, 0);
  EXPECT_NEAR(one.ratio * other.ratio, 1, 1e-12);
  EXPECT_NEAR(one.interval.low * other.interval.high, 1, 1e-12);
  EXPECT_NEAR(one.chance, other.chance, 1e-12);
}

TEST(Effect, RoundsThatAreCloseByChanceGetTheUsualVariance) {
  const MeasuredSide close{{10, 10, 10}, 0};
  const MeasuredSide closer{{10.1, 10.1, 10.1}, 0};
  EXPECT_EQ(effect_of(close, closer, 0).chance, 0);
  const double usual = log_variance(a, b);
  EXPECT_GT(effect_of(close, closer, usual).chance, 0.5);
  EXPECT_EQ(effect_of(a, b, 0).ratio, effect_of(a, b, usual).ratio);
}

// All rounds of a side have the same reading. The clock has no reading between 3.2 µs and 3.232 µs.
TEST(Effect, OneStepOfTheClockIsNone) {
  const MeasuredSide lower{{3.2e-6, 3.2e-6, 3.2e-6}, 32e-9};
  const MeasuredSide upper{{3.232e-6, 3.232e-6, 3.232e-6}, 32e-9};
  EXPECT_EQ(effect_of(lower, upper, 0).chance, 1);
  EXPECT_LT(effect_of(lower, upper, 0).interval.low, 1);
  const MeasuredSide third{{3.264e-6, 3.264e-6, 3.264e-6}, 32e-9};
  EXPECT_EQ(effect_of(lower, third, 0).chance, 0);
}

TEST(Holm, LiteralNumbers) {
  using testing::DoubleEq;
  using testing::ElementsAre;
  EXPECT_THAT(holm({0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleEq(0.03), DoubleEq(0.06), DoubleEq(0.06), DoubleEq(0.02)));
  EXPECT_THAT(holm({0.9, 0.8}), ElementsAre(1, 1));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace allocbench::front
