// These helpers run small models repeatedly on one device, which they restart each time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "simt/cpu/history.hpp"
#include "simt/cpu/search/exploration.hpp"
#include "simt/cpu/search/schedule.hpp"
#include "simt/cpu/search/shrink.hpp"
#include "tests/simt/bug_zoo.hpp"
#include "tests/simt/fault_helpers.hpp"

namespace simt::faults {

inline ExecutorOptions searching(StrategyKind strategy, std::uint64_t seed = 1) {
  ExecutorOptions options = deterministic(seed);
  options.strategy = strategy;
  options.step_budget = 100'000;
  return options;
}

inline ExecutorOptions replaying(ExecutorOptions options, const Schedule& schedule) {
  options.strategy = StrategyKind::scripted;
  options.seed = schedule.seed;
  options.script = std::make_shared<const Schedule>(schedule);
  return options;
}

// Returns the outcome of a launch, as outcome_of() does, but on a device that is restarted with these options.
template <class Kernel>
Outcome outcome_on(Device& device, const ExecutorOptions& options, LaunchShape shape, Kernel kernel,
                   std::size_t words = zoo::word_count) {
  device.restart(options);
  return outcome_of_launch(device, shape, kernel, words);
}

// Returns the first seed from 1 to `last_seed` that shows the bug, or 0.
template <class Kernel>
std::uint64_t first_failing_seed(Device& device, ExecutorOptions options, LaunchShape shape, Kernel kernel,
                                 std::uint64_t last_seed) {
  for (options.seed = 1; options.seed <= last_seed; ++options.seed) {
    const Outcome outcome = outcome_on(device, options, shape, kernel);
    if (!outcome.faulted) continue;
    EXPECT_EQ(std::string(fault_kind_name(outcome.kind)), "failed_check") << outcome.text;
    return options.seed;
  }
  return 0;
}

// Expects that a block of two lanes fails under some seed and that the history of this run contains `told`. The
// schedule must survive writing and reading, and must replay the same steps. `few` gets the shrunk schedule.
template <class Kernel>
void replay_and_shrink(ExecutorOptions options, Kernel kernel, std::uint64_t last_seed, const char* told, Shrunk& few) {
  Device device(options);
  options.seed = first_failing_seed(device, options, {1, 2}, kernel, last_seed);
  ASSERT_NE(options.seed, 0u);
  const std::uint64_t hash = device.hash();
  options.record = true;
  options.history_steps = 100;
  EXPECT_TRUE(outcome_on(device, options, {1, 2}, kernel).faulted);
  EXPECT_EQ(device.hash(), hash);
  EXPECT_NE(history_text(device.history(), 100).find(told), std::string::npos);
  const Schedule schedule = device.schedule();
  EXPECT_EQ(parse_schedule(to_text(schedule)), schedule);
  const auto fails = [&](const Schedule& candidate) {
    return outcome_on(device, replaying(searching(StrategyKind::random), candidate), {1, 2}, kernel).faulted;
  };
  EXPECT_TRUE(fails(schedule));
  EXPECT_EQ(device.hash(), hash);
  few = shrink(schedule, fails);
  EXPECT_TRUE(few.minimal);
}

}  // namespace simt::faults
