// These tests check that each strategy of the executor makes the schedules that it promises, and that `swarm`, which
// mixes strategies, finds the planted bugs.
#include <algorithm>
#include <set>

#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

// benchmarks/schedule_search prints the rates. Here each bug must appear within a number of seeds that leaves a wide
// margin.
TEST(Swarm, FindsThePlantedBugs) {
  Device device(deterministic(1));
  const ExecutorOptions swarm = searching(StrategyKind::swarm);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 2}, zoo::LostUpdate{}, 100), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 2}, zoo::EarlyUnlock{}, 2000), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 4}, zoo::EarlyUnlock{}, 1000), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 4}, zoo::AbaStack{}, 5000), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 32}, zoo::AbaStack{}, 1000), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 4}, zoo::RecycledPage{}, 5000), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 32}, zoo::RecycledPage{}, 1000), 0u);
  EXPECT_NE(first_failing_seed(device, swarm, {1, 32}, zoo::TrustsWholeWarp{}, 100), 0u);
}

// CorrectUpdate has no bug. It shows that the executor does not cause the findings above.
struct CorrectUpdate {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (std::uint32_t i = 0; i < 3; ++i) thread.atomic(words[0]).fetch_add(1u, relaxed);
    thread.block_barrier();
    zoo::check(thread, thread.atomic(words[0]).load(relaxed) == 3 * thread.block_size(), "an update was lost");
  }
};

TEST(Swarm, DrawsEveryStrategyAndBlamesNoCorrectKernel) {
  Device device(deterministic(1));
  ExecutorOptions options = searching(StrategyKind::swarm);
  std::set<std::string> drawn;
  int holding = 0;
  for (options.seed = 1; options.seed <= 1000; ++options.seed) {
    EXPECT_FALSE(outcome_on(device, options, {1, 4}, CorrectUpdate{}).faulted);
    const std::string& strategy = device.last_launch().strategy;
    const std::size_t holds = strategy.find(", holds");
    holding += holds != std::string::npos ? 1 : 0;
    drawn.insert(strategy.substr(0, std::min(holds, strategy.find(" over"))));
  }
  // The numbers are 7 densities, 3 depths (2 to 4), 6 slices of round robin and 6 slices of lockstep.
  EXPECT_EQ(drawn.size(), 7u + 3u + 6u + 6u);
  EXPECT_GT(holding, 200);
  EXPECT_LT(holding, 300);
}

// In Barrier, all lanes wait for each other. The lane of the highest priority must give way to the lanes for which it
// waits.
struct Barrier {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* arrived) const {
    thread.atomic(*arrived).fetch_add(1u, acq_rel);
    while (thread.atomic(*arrived).load(acquire) < thread.grid_size()) thread.spin_hint();
  }
};

TEST(Pct, WaitingLanesFallBehind) {
  Device device(deterministic(1));
  ExecutorOptions options = searching(StrategyKind::pct);
  for (options.seed = 1; options.seed <= 50; ++options.seed) {
    const Outcome outcome = outcome_on(device, options, {2, 32}, Barrier{});
    EXPECT_FALSE(outcome.faulted) << outcome.text;
    // Each lane makes one addition, one look, one hint and a last look. After a change point it makes more looks.
    EXPECT_LE(device.last_launch().steps, 64u * 8u);
  }
}

TEST(Pct, PreemptsOnlyAtItsChangePoints) {
  Device device(deterministic(1));
  ExecutorOptions options = searching(StrategyKind::pct);
  options.expected_steps = 40;
  for (options.pct_depth = 1; options.pct_depth <= 4; ++options.pct_depth) {
    for (options.seed = 1; options.seed <= 20; ++options.seed) {
      outcome_on(device, options, {1, 8}, [](auto& thread, std::uint32_t* words) {
        for (std::uint32_t i = 0; i < 10; ++i) thread.atomic(words[thread.lane()]).fetch_add(1u, relaxed);
      });
      EXPECT_LE(device.last_launch().switches, 7u + options.pct_depth - 1);
      EXPECT_EQ(device.last_launch().strategy, "pct d=" + std::to_string(options.pct_depth) + " over 40 steps");
    }
  }
}

// In each of eight rounds of Aggregated, lanes make different numbers of steps before a warp-aggregated addition.
struct Aggregated {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (std::uint32_t round = 0; round < 8; ++round) {
      for (std::uint32_t i = 0; i < thread.lane() % 4; ++i) thread.atomic(words[40]).fetch_add(1u, relaxed);
      const auto group = thread.converged();
      std::uint32_t first = 0;
      if (group.leader()) first = thread.atomic(words[41]).fetch_add(group.num_threads(), relaxed);
      group.broadcast(first);
      if (group.leader()) thread.atomic(words[group.num_threads()]).fetch_add(1u, relaxed);
    }
  }
};

TEST(Conflicts, LetTwoRareDelaysMeet) {
  Device device(deterministic(1));
  const auto failing = [&](StrategyKind strategy) {
    std::uint32_t count = 0;
    ExecutorOptions options = searching(strategy);
    for (options.seed = 1; options.seed <= 500; ++options.seed) {
      count += outcome_on(device, options, {1, 2}, zoo::StaleReservation{}).faulted ? 1 : 0;
    }
    return count;
  };
  EXPECT_GT(failing(StrategyKind::conflicts), 2 * failing(StrategyKind::swarm));
}

TEST(Conflicts, BlameNoCorrectKernel) {
  Device device(deterministic(1));
  ExecutorOptions options = searching(StrategyKind::conflicts);
  for (options.seed = 1; options.seed <= 300; ++options.seed) {
    EXPECT_FALSE(outcome_on(device, options, {1, 4}, CorrectUpdate{}).faulted);
    EXPECT_FALSE(outcome_on(device, options, {2, 32}, Barrier{}).faulted);
  }
}

// Returns the share of the lanes that were in a group of 32.
double lanes_in_whole_warps(StrategyKind strategy) {
  std::uint64_t whole = 0;
  constexpr std::uint64_t seeds = 40;
  Device device(searching(strategy));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    device.restart(searching(strategy, seed));
    Stream stream(device);
    Buffer<std::uint32_t> words(zoo::word_count);
    words.fill_bytes(stream, 0);
    launch(stream, {1, 64}, Aggregated{}, words.data());
    whole += words.to_host(stream)[32];
  }
  return static_cast<double>(whole) / (seeds * 2 * 8);
}

TEST(Lockstep, KeepsWarpsTogether) {
  EXPECT_GT(lanes_in_whole_warps(StrategyKind::lockstep), 0.8);
  EXPECT_LT(lanes_in_whole_warps(StrategyKind::random), 0.7);
}

TEST(Lockstep, LanesPassACallTogether) {
  Device device(searching(StrategyKind::lockstep));
  ExecutorOptions options = searching(StrategyKind::lockstep);
  options.history_steps = 1000;
  outcome_on(device, options, {1, 32}, [](auto& thread, std::uint32_t* words) {
    thread.atomic(words[0]).fetch_add(1u, relaxed);
    thread.atomic(words[1]).fetch_add(1u, relaxed);
    thread.atomic(words[2]).fetch_add(1u, relaxed);
  });
  const History& history = device.history();
  ASSERT_EQ(history.size(), 96u);
  for (std::size_t i = 1; i < history.size(); ++i) {
    EXPECT_EQ(history[i].address == history[i - 1].address, i % 32 != 0) << "at operation " << i;
  }
}

}  // namespace
}  // namespace simt::faults
