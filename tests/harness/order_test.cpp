// These tests check the prices of hand-made steps (rounds of cells), by which the front end orders the steps.
#include "harness/front/run/order.hpp"

#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

Step step(double seconds, std::uint64_t rounds_had = 0) {
  Step made;
  made.forecast.seconds = seconds;
  made.failure_seconds = 2.5;
  made.rounds_had = rounds_had;
  return made;
}

TEST(Order, APriceIsSecondsPerValue) {
  EXPECT_DOUBLE_EQ(price(step(0.1)), 0.1);
  EXPECT_DOUBLE_EQ(price(step(3)), 3);
  EXPECT_GT(price(step(0)), 0);
}

TEST(Order, LaterRoundsAreWorthWhatTheyAdd) {
  EXPECT_DOUBLE_EQ(price(step(0.1, 1)), 0.5);
  EXPECT_DOUBLE_EQ(price(step(0.1, 2)), 0.1) << "it completes the number";
  EXPECT_DOUBLE_EQ(price(step(0.1, 3)), 50);
  EXPECT_DOUBLE_EQ(price(step(0.1, 5)), 50);
  EXPECT_DOUBLE_EQ(price(step(0.1, 6)), 500);
}

TEST(Order, AShortRoundForAnIntervalComesAfterALongFirstRound) { EXPECT_LT(price(step(2)), price(step(0.01, 3))); }

TEST(Order, ACurveThatCanHardlyBeDrawnComesFirst) {
  Step sparse = step(0.4);
  sparse.sparse = Sparse::curve;
  EXPECT_DOUBLE_EQ(price(sparse), 0.2);
  sparse.rounds_had = 1;
  EXPECT_DOUBLE_EQ(price(sparse), 2) << "only values are missing there";
}

TEST(Order, AFigureThatCanHardlyBeDrawnGetsItsCheapRoundsFirst) {
  Step cheap = step(0.16);
  cheap.sparse = Sparse::figure;
  EXPECT_DOUBLE_EQ(price(cheap), 0.0025);
  Step dear = step(0.4);
  dear.sparse = Sparse::figure;
  EXPECT_DOUBLE_EQ(price(dear), 0.2) << "as for a sparse curve";
}

TEST(Order, TheOnlyRoundAfterTheFirstCompletesTheNumber) {
  Step second = step(0.1, 1);
  second.rounds_of_number = 2;
  EXPECT_DOUBLE_EQ(price(second), 0.1);
}

TEST(Order, ARiskCostsItsDeadlineAndGivesNoValue) {
  Step risky = step(0.1);
  risky.forecast.risk = 0.5;
  EXPECT_DOUBLE_EQ(price(risky), (0.5 * 0.1 + 0.5 * 2.5) / 0.5);
  risky.forecast.risk = 0.95;
  EXPECT_GT(price(risky), 40);
}

TEST(Order, OnlyStepsOfANumberComeAheadOfTheirPass) {
  EXPECT_TRUE(step(1).is_of_number());
  EXPECT_TRUE(step(1, 2).is_of_number());
  EXPECT_FALSE(step(1, 3).is_of_number());
  Step last = step(1, 1);
  last.rounds_of_number = 1;
  EXPECT_FALSE(last.is_of_number()) << "one round is this cell's number";
}

TEST(Order, PassesGroupPricesWithinAFactorOfTwo) {
  EXPECT_EQ(pass_of(1), 0);
  EXPECT_EQ(pass_of(1.9), 0);
  EXPECT_EQ(pass_of(2.1), 1);
  EXPECT_EQ(pass_of(0.9), -1);
  EXPECT_EQ(pass_of(0.4), -2);
}

TEST(Order, DeferredCellsComeBehindEverythingElse) {
  EXPECT_LT((Place{Part::first_figure, 5}), (Place{Part::usual, -5}));
  EXPECT_LT((Place{Part::usual, 3}), (Place{Part::doubtful, 0}));
  EXPECT_LT((Place{Part::doubtful, 3}), (Place{Part::deferred, -3}));
  EXPECT_LT((Place{Part::usual, -1}), (Place{Part::usual, 0}));
}

}  // namespace
}  // namespace allocbench::front
