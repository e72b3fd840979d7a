// These tests use hand-made samples to check when the front end stops measuring a cell.
#include "harness/front/run/stopping.hpp"

#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

protocol::Sample sample(double alloc_seconds, double free_seconds = 1e-6) {
  protocol::Sample each;
  each.phases = {{"alloc", alloc_seconds, 1}, {"free", free_seconds, 1}};
  return each;
}

Cell cell() {
  Cell each;
  each.repetitions = 5;
  each.rounds = 20;
  each.least_rounds = 6;
  each.precision = 0.013;
  each.wall_bound_seconds = 10;
  each.statistic = "median";
  return each;
}

SampledRounds equal_rounds(std::size_t count, double seconds) { return SampledRounds(count, {sample(seconds)}); }

// Returns rounds whose alloc phase alternates between 1 ms and (1 + spread) ms.
SampledRounds spread_rounds(std::size_t count, double spread) {
  SampledRounds rounds;
  for (std::size_t i = 0; i < count; ++i) rounds.push_back({sample(i % 2 == 0 ? 1e-3 : 1e-3 * (1 + spread))});
  return rounds;
}

TEST(Stopping, GoesOnUntilTheLeastNumberOfRounds) {
  EXPECT_EQ(reason_to_stop(cell(), equal_rounds(5, 1e-3), 0), std::nullopt);
  EXPECT_EQ(reason_to_stop(cell(), equal_rounds(6, 1e-3), 0), stop::precision);
}

TEST(Stopping, EveryPhaseMustBePrecise) {
  EXPECT_EQ(reason_to_stop(cell(), spread_rounds(12, 0.2), 0), std::nullopt);
  EXPECT_EQ(reason_to_stop(cell(), spread_rounds(12, 0.001), 0), stop::precision);
}

TEST(Stopping, RoundsEnd) {
  EXPECT_EQ(reason_to_stop(cell(), spread_rounds(19, 0.2), 0), std::nullopt);
  EXPECT_EQ(reason_to_stop(cell(), spread_rounds(20, 0.2), 0), stop::rounds);
}

TEST(Stopping, NoRoundStartsAfterTheWallBound) {
  EXPECT_EQ(reason_to_stop(cell(), spread_rounds(2, 0.2), 9.9), std::nullopt);
  EXPECT_EQ(reason_to_stop(cell(), spread_rounds(2, 0.2), 10), stop::wall);
}

TEST(Stopping, LongSamplesHaveThreeRounds) {
  EXPECT_EQ(reason_to_stop(cell(), equal_rounds(2, 0.2), 0), std::nullopt);
  EXPECT_EQ(reason_to_stop(cell(), equal_rounds(3, 0.2), 0), stop::long_samples);
  EXPECT_EQ(reason_to_stop(cell(), equal_rounds(3, 0.09), 0), std::nullopt);
}

TEST(Stopping, LongSamplesHaveTheRoundsThatTheConfigAsksFor) {
  Cell exact = cell();
  exact.least_long_rounds = 6;
  EXPECT_EQ(reason_to_stop(exact, spread_rounds(5, 300), 0), std::nullopt);
  EXPECT_EQ(reason_to_stop(exact, spread_rounds(6, 300), 0), stop::exact_long_samples);
}

TEST(Stopping, ARoundTakesSamplesUntilItsTimeIsUsed) {
  EXPECT_EQ(samples_to_ask_for(cell(), {}, {}), 1u);  // the duration of a sample is unknown
  EXPECT_EQ(samples_to_ask_for(cell(), {sample(1e-3)}, {}), 4u);
  EXPECT_EQ(samples_to_ask_for(cell(), {5, sample(1e-3)}, {}), 0u);  // all repetitions are done
  EXPECT_EQ(samples_to_ask_for(cell(), {sample(0.2)}, {}), 0u);
  protocol::Sample with_checks = sample(1e-3);
  with_checks.wall_seconds = 0.6 * sampling_seconds;
  EXPECT_EQ(samples_to_ask_for(cell(), {with_checks}, {}), 1u);
  EXPECT_EQ(samples_to_ask_for(cell(), {with_checks, with_checks}, {}), 0u);
}

TEST(Stopping, ALaterRoundAsksForAllItsSamplesAtOnce) {
  EXPECT_EQ(samples_to_ask_for(cell(), {}, {{5, sample(1e-3)}}), 5u);
  EXPECT_EQ(samples_to_ask_for(cell(), {}, {{sample(0.4 * sampling_seconds), sample(0.2 * sampling_seconds)}}),
            3u);  // judged by the slowest sample
  EXPECT_EQ(samples_to_ask_for(cell(), {}, {{sample(0.2)}}), 1u);
  EXPECT_EQ(samples_to_ask_for(cell(), {}, {{sample(0)}}), 5u);
}

TEST(Stopping, AnIntervalNeedsEnoughRounds) {
  EXPECT_EQ(relative_half_width(equal_rounds(5, 1e-3), cell()), std::nullopt);
  EXPECT_EQ(relative_half_width(equal_rounds(6, 1e-3), cell()), 0);
  EXPECT_GT(relative_half_width(spread_rounds(8, 0.2), cell()), 0.01);
}

}  // namespace
}  // namespace allocbench::front
