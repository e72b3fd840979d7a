// These tests make a depth-first search over all schedules with few preemptions.
#include <set>

#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

struct TwoSteps {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    thread.atomic(words[0]).fetch_add(1u, relaxed);
    thread.atomic(words[1]).fetch_add(1u, relaxed);
  }
};

struct Found {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  std::uint32_t fewest_preemptions = ~0u;
  std::set<std::string> schedules;
};

template <class Kernel>
Found explore(std::uint32_t preemptions, std::uint32_t lanes, Kernel kernel) {
  const auto paths = std::make_shared<Exploration>(preemptions);
  ExecutorOptions options = deterministic(1);
  Device device(options);
  options.strategy = StrategyKind::exploring;
  options.exploration = paths;
  options.record = true;
  options.step_budget = 10'000;
  Found found;
  do {
    const Outcome outcome = outcome_on(device, options, {1, lanes}, kernel);
    EXPECT_LE(paths->preemptions(), preemptions);
    found.schedules.insert(to_text(device.schedule()));
    if (!outcome.faulted) continue;
    EXPECT_EQ(outcome.kind, FaultKind::failed_check) << outcome.text;
    ++found.failures;
    found.fewest_preemptions = std::min(found.fewest_preemptions, paths->preemptions());
  } while (paths->advance());
  EXPECT_TRUE(paths->exhausted());
  found.runs = paths->runs();
  return found;
}

// Two lanes A and B have the steps 1 and 2 each. Without a preemption, the schedules are A A B B and B B A A. With one
// preemption, when A begins, B comes in before step 1 or 2 of A and runs to its end. With two preemptions, in each of
// these cases, A returns before step 1 or 2 of B. The same holds when B begins.
TEST(Exploration, CountsByHand) {
  EXPECT_EQ(explore(0, 2, TwoSteps{}).runs, 2u);
  EXPECT_EQ(explore(1, 2, TwoSteps{}).runs, 2u * (1 + 2));
  const Found two = explore(2, 2, TwoSteps{});
  EXPECT_EQ(two.runs, 2u * (1 + 2 + 4));
  EXPECT_EQ(two.schedules.size(), two.runs) << "no schedule comes twice";
}

// The choice of the first lane, and of the next lane when a lane ends, does not count as a preemption.
TEST(Exploration, OrdersOfThreeLanes) { EXPECT_EQ(explore(0, 3, TwoSteps{}).runs, 6u); }

TEST(Exploration, FindsALostUpdateWithOnePreemption) {
  EXPECT_EQ(explore(0, 2, zoo::LostUpdate{}).failures, 0u);
  const Found found = explore(1, 2, zoo::LostUpdate{});
  // The lane that begins makes three updates. The preemption lies between load and store of an update.
  EXPECT_EQ(found.failures, 2u * 3u);
  EXPECT_EQ(found.fewest_preemptions, 1u);
}

TEST(Exploration, FindsAnEarlyUnlock) {
  const Found found = explore(2, 2, zoo::EarlyUnlock{});
  EXPECT_GT(found.failures, 0u);
  EXPECT_GT(found.runs, 100u);
}

TEST(Exploration, CanKeepToOneLaunch) {
  const auto paths = std::make_shared<Exploration>(1, 1);
  ExecutorOptions options = deterministic(1);
  Device device(options);
  options.strategy = StrategyKind::exploring;
  options.exploration = paths;
  do {
    device.restart(options);
    Stream stream(device);
    Buffer<std::uint32_t> words(zoo::word_count);
    launch(stream, {1, 32}, TwoSteps{}, words.data());
    launch(stream, {1, 2}, TwoSteps{}, words.data());
  } while (paths->advance());
  EXPECT_EQ(paths->runs(), 6u);
}

TEST(Exploration, TellsWhenSomethingElseDecides) {
  const auto paths = std::make_shared<Exploration>(1);
  ExecutorOptions options = deterministic(1);
  Device device(options);
  options.strategy = StrategyKind::exploring;
  options.exploration = paths;
  int run = 0;
  const auto uncontrolled = [&run](auto& thread, std::uint32_t* words) {
    for (int i = 0; i < 2 + run % 2; ++i) thread.atomic(words[0]).fetch_add(1u, relaxed);
    if (run % 2 == 1) thread.atomic(words[1]).fetch_add(1u, relaxed);
  };
  const auto explore_all = [&] {
    do {
      outcome_on(device, options, {1, 2}, uncontrolled);
      ++run;
    } while (paths->advance());
  };
  try {
    explore_all();
    FAIL() << "not noticed";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::nondeterminism);
  }
}

}  // namespace
}  // namespace simt::faults
