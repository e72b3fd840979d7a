// These tests check the t interval of the logarithms of three to five rounds, and how often it covers the time of the
// typical process. docs/methodology-measurement.md has the shares.
#include "harness/front/statistics/few_rounds.hpp"

#include <gtest/gtest.h>

#include "harness/front/statistics/usual_variance.hpp"
#include "tests/harness/simulated_rounds.hpp"

namespace allocbench::front {
namespace {

// The expected values are from scipy.stats.t.interval(0.95, 2, loc=mean, scale=sem) of the logarithms.
TEST(FewRounds, IsTheTIntervalOfTheLogarithms) {
  const FewRounds found = judged_by_few({{10, 11, 9.5}, 0}, 0);
  EXPECT_NEAR(found.interval->low, 8.435510196366945, 1e-9);
  EXPECT_NEAR(found.interval->high, 12.207671632605022, 1e-9);
  EXPECT_EQ(found.values, (std::vector<double>{10, 11, 9.5}));
}

TEST(FewRounds, RoundsThatAreCloseByChanceGetTheUsualSpread) {
  const FewRounds found = judged_by_few({{10, 11, 9.5}, 0}, 0.2 * 0.2);
  EXPECT_NEAR(found.interval->low, 6.174511967356369, 1e-9);
  EXPECT_NEAR(found.interval->high, 16.67790735124762, 1e-9);
  EXPECT_DOUBLE_EQ(found.least_spread, 0.2);
  EXPECT_NEAR(judged_by_few({{10, 11, 9.5}, 0}, 0.01 * 0.01).interval->low, 8.435510196366945, 1e-9);
}

// A step is 1 % here. Half the width of the interval is half a step plus 4.30265 / sqrt(3) / sqrt(12) of a step, which
// three equal readings may hide.
TEST(FewRounds, EqualReadingsLeaveWhatTheClockHides) {
  const auto equal = judged_by_few({{3.2e-6, 3.2e-6, 3.2e-6}, device_clock_step}, 0).interval;
  EXPECT_NEAR(std::log(equal->low / 3.2e-6), -0.0121711, 1e-7);
  EXPECT_NEAR(std::log(equal->high / 3.2e-6), 0.0121711, 1e-7);
}

TEST(FewRounds, EqualValuesWithNothingToWidenThemHaveNoInterval) {
  EXPECT_FALSE(judged_by_few({{2, 2, 2}, 0}, 0).interval.has_value());
  EXPECT_TRUE(judged_by_few({{2, 2, 2}, 0}, 0.01 * 0.01).interval.has_value());
}

TEST(FewRounds, AZeroHasNoLogarithm) { EXPECT_FALSE(judged_by_few({{2, 0, 2}, 0}, 0.1).interval.has_value()); }

TEST(FewRounds, TwoAreTooFewAndSixEnough) {
  EXPECT_FALSE(are_few(2));
  EXPECT_TRUE(are_few(3));
  EXPECT_TRUE(are_few(5));
  EXPECT_FALSE(are_few(6));
}

TEST(UsualVariance, IsTheMedianOfTheSameAllocatorWorkloadAndPhase) {
  UsualVariance usual;
  for (const double variance : {1.0, 9.0, 4.0}) usual.add({"halloc", "pairs", "alloc"}, variance);
  usual.add({"halloc", "pairs", "free"}, 100);
  EXPECT_EQ(usual.of({"halloc", "pairs", "alloc"}), 4);
  EXPECT_FALSE(usual.of({"halloc", "graph", "alloc"}).has_value());
}

constexpr std::size_t trials = 4000;

struct Coverage {
  double alone;   // share that covers the truth, with the spread of the cell's own rounds
  double beside;  // the same, with at least the median variance of this cell and eight others
};

Coverage covered_shares(const Simulation& simulation, const Spread& spread, std::size_t count, double truth) {
  constexpr int others = 8;
  Generator generator(20260118 + count);
  const double step = simulation.clock == Clock::exact ? 0 : device_clock_step;
  const auto values = [&] { return values_of(simulation.rounds(spread, count, generator), Statistic::median); };
  std::size_t alone = 0;
  std::size_t beside = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const MeasuredSide side{values(), step};
    std::vector<double> variances = {log_variance(side.values)};
    for (int other = 0; other < others; ++other) variances.push_back(log_variance(values()));
    const auto covers = [&](double least_variance) {
      const auto interval = judged_by_few(side, least_variance).interval;
      return interval && interval->low <= truth && truth <= interval->high;
    };
    alone += covers(0);
    beside += covers(median(variances));
  }
  return {static_cast<double>(alone) / trials, static_cast<double>(beside) / trials};
}

// Two modes that are about equally frequent have no typical process. The mode in which the median lies is nearly
// random.
bool has_two_modes_alike(const Spread& spread) {
  return spread.name == mixture(0.4, 10).name || spread.name == mixture(0.5, 5).name;
}

TEST(FewRoundsCoverage, IsThatOfTheTypicalProcess) {
  const Simulation simulation{.samples = 1};
  for (const Spread& spread : spreads()) {
    const double truth = simulation.truth(spread);
    const bool alike = has_two_modes_alike(spread);
    for (const std::size_t rounds : {3, 4, 5}) {
      const Coverage found = covered_shares(simulation, spread, rounds, truth);
      EXPECT_GE(found.alone, alike ? 0.83 : 0.925) << spread.name << ", " << rounds << " rounds";
      EXPECT_GE(found.beside, alike ? 0.90 : 0.97) << spread.name << ", " << rounds << " rounds";
    }
  }
  EXPECT_LE(covered_shares(simulation, spreads().front(), 3, simulation.truth(spreads().front())).alone, 0.965)
      << "wider than promised for a normal spread";
}

TEST(FewRoundsCoverage, HoldsWhereTheClockHasFewSteps) {
  for (const double between : {0.0005, 0.003, 0.015}) {
    for (const double seconds : {2.896e-6, 2.912e-6, 2.927e-6}) {
      const Simulation simulation{
          .seconds = seconds, .between = between, .within = 0.002, .samples = 5, .clock = Clock::nearest};
      const Spread spread = spreads().front();
      EXPECT_GE(covered_shares(simulation, spread, 3, simulation.truth(spread)).alone, 0.93)
          << seconds << " s, spread " << between;
    }
  }
}

// The mean depends on the slow processes, and about half of the cells of three rounds have none of them.
TEST(FewRoundsCoverage, MissesTheMeanWhereOneProcessInFiveIsSlow) {
  const Simulation simulation{.samples = 1};
  const double mean_log = 0.2 * 10 * simulation.between;
  EXPECT_LT(covered_shares(simulation, mixture(0.2, 10), 3, simulation.seconds * std::exp(mean_log)).alone, 0.8);
}

}  // namespace
}  // namespace allocbench::front
