// These tests run the energy meter with a simulated counter and known powers. The counter moves in steps. It counts the
// energy of the idle GPU, of the work, and of the preparation of the work.
#include "harness/worker/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace allocbench::worker {
namespace {

class World {
 public:
  double idle_watts = 70;
  double idle_drift = 0;       // watts per second
  double step_seconds = 0.05;  // time between two steps of the counter
  bool has_counter = true;

  void pass(double seconds, double extra_joules) {
    joules_ += (idle_watts + idle_drift * now_) * seconds + extra_joules;
    now_ += seconds;
    if (now_ >= next_step_) {
      shown_ = joules_;
      while (next_step_ <= now_) next_step_ += step_seconds;
    }
  }
  EnergySources sources() {
    return {.joules = [this]() { return has_counter ? std::optional(shown_) : std::nullopt; },
            .now = [this] { return now_; },
            .sleep = [this](double seconds) { pass(seconds, 0); }};
  }

 private:
  double now_ = 0;
  double joules_ = 5000;
  double shown_ = 5000;
  double next_step_ = 0.01;
};

std::optional<Energy> measured(World& world, double joules_of_work, double joules_of_preparing) {
  return EnergyMeter(world.sources())
      .measure(
          1, [&] { world.pass(0.7e-3, joules_of_work + joules_of_preparing); },
          [&] { world.pass(0.2e-3, joules_of_preparing); });
}

TEST(EnergyMeter, TakesOffIdlePowerAndPreparation) {
  World world;
  const auto energy = measured(world, 0.2, 0.03);
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->joules, 0.2, 1e-3);
  EXPECT_NEAR(energy->idle_watts, 70, 0.01);
  EXPECT_GE(energy->repetitions, 1000u);
  EXPECT_GT(energy->noise, 0) << "steps of the counter";
  EXPECT_LT(energy->noise, 0.1);
}

TEST(EnergyMeter, MeasuresNothingAsNothingWithinItsNoise) {
  World world;
  const auto energy = measured(world, 0, 0.03);
  ASSERT_TRUE(energy);
  EXPECT_LE(std::abs(energy->joules), 3 * energy->noise);
}

TEST(EnergyMeter, SaysMoreNoiseWhereTheIdlePowerDrifts) {
  World steady;
  World drifting;
  drifting.idle_drift = 20;
  const auto calm = measured(steady, 0.1, 0.01);
  const auto noisy = measured(drifting, 0.1, 0.01);
  ASSERT_TRUE(calm && noisy);
  EXPECT_GT(noisy->noise, calm->noise);
  EXPECT_NEAR(noisy->joules, 0.1, 3 * noisy->noise);
}

TEST(EnergyMeter, GivesNothingWithoutACounterThatMoves) {
  World none;
  none.has_counter = false;
  EXPECT_FALSE(measured(none, 0.1, 0.01));
  World still;
  still.step_seconds = 1e9;
  EXPECT_FALSE(measured(still, 0.1, 0.01));
}

}  // namespace
}  // namespace allocbench::worker
