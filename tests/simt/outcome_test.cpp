// These tests distinguish the outcomes of a search and check the contents of a report.
#include "simt/cpu/history.hpp"
#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

struct CheckOfOneLane {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    thread.atomic(words[0]).fetch_add(1u, relaxed);
    if (thread.rank_in_block() == 37) {
      while (thread.atomic(words[0]).load(acquire) < 9) thread.spin_hint();
      thread.executor_lane().note("malloc gave", 0x40, CallSite::here());
      zoo::check(thread, false, "the block is live already");
    }
    thread.block_barrier();
  }
};

TEST(Outcome, FailedCheckShowsAllWarpsOfTheBlock) {
  expect_fault(
      {2, 64}, CheckOfOneLane{}, FaultKind::failed_check,
      {"lane 5 of block", "warp 1 at outcome_test.cpp:", "the block is live already", "warp 0:\n", "warp 1:\n"});
}

TEST(Outcome, HistoryNamesTheLastOperations) {
  ExecutorOptions options = searching(StrategyKind::swarm);
  options.history_steps = 100;
  Device device(options);
  EXPECT_EQ(outcome_on(device, options, {1, 64}, CheckOfOneLane{}).kind, FaultKind::failed_check);
  const History& history = device.history();
  ASSERT_GT(history.size(), 10u);
  EXPECT_LE(history.size(), 100u);
  EXPECT_STREQ(history[history.size() - 1].note, "malloc gave");
  const std::string text =
      history_text(history, 3, [](const HistoryEntry& entry) { return entry.lane == 37 || entry.lane == 3; });
  EXPECT_NE(text.find("malloc gave 0x40"), std::string::npos) << text;
  EXPECT_NE(text.find("] = 0x"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  options.history_steps = 0;
  outcome_on(device, options, {1, 64}, CheckOfOneLane{});
  EXPECT_EQ(device.history().size(), 0u);
}

TEST(Outcome, HistoryKeepsTheOrderOfEffects) {
  ExecutorOptions options = searching(StrategyKind::random);
  options.history_steps = 10'000;
  Device device(options);
  outcome_on(device, options, {1, 32}, [](auto& thread, std::uint32_t* words) {
    for (int i = 0; i < 20; ++i) thread.atomic(words[0]).fetch_add(1u, relaxed);
  });
  ASSERT_EQ(device.history().size(), 640u);
  for (std::size_t i = 0; i < 640; ++i) {
    EXPECT_EQ(device.history()[i].before, i);
    EXPECT_EQ(device.history()[i].after, i + 1);
  }
}

// EndlessLook reads more words than the executor watches for a lane, so only the budget ends the wait.
struct EndlessLook {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (std::uint32_t i = 0;; ++i) {
      if (thread.atomic(words[i % 32]).load(acquire) != 0) return;
    }
  }
};

TEST(Outcome, BudgetWithoutChangeIsALivelock) {
  for (const StrategyKind strategy : {StrategyKind::random, StrategyKind::pct, StrategyKind::lockstep}) {
    ExecutorOptions options = searching(strategy);
    options.step_budget = 10'000;
    Device device(options);
    Outcome outcome = outcome_on(device, options, {1, 4}, EndlessLook{});
    EXPECT_EQ(std::string(fault_kind_name(outcome.kind)), "livelock");
    EXPECT_NE(outcome.text.find("no atomic word changed"), std::string::npos) << outcome.text;
    EXPECT_EQ(device.last_launch().steps, 12'500u + 1u);
    outcome = outcome_on(device, options, {1, 4}, [](auto& thread, std::uint32_t* words) {
      while (true) thread.atomic(words[0]).fetch_add(1u, relaxed);
    });
    EXPECT_EQ(std::string(fault_kind_name(outcome.kind)), "budget");
    EXPECT_NE(outcome.text.find("words still changed"), std::string::npos) << outcome.text;
  }
}

// In Starves, the lane of the highest priority waits without a hint, over many words, for a lane that therefore never
// runs.
struct Starves {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    if (thread.lane() == 0) thread.atomic(words[5]).store(1u, release);
    EndlessLook{}(thread, words);
  }
};

TEST(Outcome, TheGraceLetsStarvedLanesEndALaunch) {
  std::uint32_t beyond_budget = 0;
  ExecutorOptions options = searching(StrategyKind::pct);
  options.step_budget = 2000;
  options.pct_depth = 1;
  Device device(options);
  for (options.seed = 1; options.seed <= 20; ++options.seed) {
    const Outcome outcome = outcome_on(device, options, {1, 4}, Starves{});
    EXPECT_FALSE(outcome.faulted) << outcome.text;
    beyond_budget += device.last_launch().steps > 2000;
  }
  EXPECT_GT(beyond_budget, 5u);
}

TEST(Outcome, RunsBeyondTheBudgetReplay) {
  ExecutorOptions options = searching(StrategyKind::swarm);
  options.step_budget = 3000;
  Device device(options);
  for (options.seed = 1; options.seed <= 20; ++options.seed) {
    options.record = true;
    const Outcome first = outcome_on(device, options, {1, 40}, EndlessLook{});
    const std::uint64_t hash = device.hash();
    const Outcome again = outcome_on(device, replaying(options, Schedule(device.schedule())), {1, 40}, EndlessLook{});
    EXPECT_EQ(again.text, first.text);
    EXPECT_EQ(device.hash(), hash);
  }
}

}  // namespace
}  // namespace simt::faults
