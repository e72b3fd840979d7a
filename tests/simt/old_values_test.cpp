// These tests run litmus tests of memory models on loads that may read old values. Results that a GPU allows must
// occur, and results that it forbids must never occur.
#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

constexpr std::uint64_t seeds = 2000;

ExecutorOptions ageing(StrategyKind strategy, std::uint64_t seed = 1) {
  ExecutorOptions options = searching(strategy, seed);
  options.read_old_values = true;
  options.slice = 1;
  return options;
}

template <class Kernel>
bool found_by(const ExecutorOptions& options, Kernel kernel, LaunchShape shape = {1, 2}) {
  Device device(options);
  return first_failing_seed(device, options, shape, kernel, seeds) != 0;
}
template <class Kernel>
bool found(Kernel kernel, LaunchShape shape = {1, 2}) {
  return found_by(ageing(StrategyKind::random), kernel, shape);
}

const auto store_relaxed = [](auto word) { word.store(1u, relaxed); };
const auto store_release = [](auto word) { word.store(1u, release); };
const auto load_relaxed = [](auto word) { return word.load(relaxed); };
const auto load_acquire = [](auto word) { return word.load(acquire); };

// One lane writes a message and raises a flag. Another lane sees the flag and reads the message.
template <class Raise, class Look, class Read>
auto message(Raise raise, Look look, Read read) {
  return [=](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) {
      thread.atomic(words[0]).store(1u, relaxed);
      raise(thread.atomic(words[1]));
    } else if (look(thread.atomic(words[1])) != 0) {
      zoo::check(thread, read(thread.atomic(words[0])) == 1, "the flag came before the message");
    }
  };
}

TEST(OldValues, AMessageIsReadBehindItsFlagOnlyWithReleaseAndAcquire) {
  EXPECT_TRUE(found(message(store_relaxed, load_acquire, load_relaxed)));
  EXPECT_TRUE(found(message(store_release, load_relaxed, load_relaxed)));
  EXPECT_FALSE(found(message(store_release, load_acquire, load_relaxed)));
  ExecutorOptions newest = ageing(StrategyKind::random);
  newest.read_old_values = false;
  EXPECT_FALSE(found_by(newest, message(store_relaxed, load_relaxed, load_relaxed)));
}

TEST(OldValues, EverySeededStrategyReadsThem) {
  const auto kernel = [](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) {
      thread.atomic(words[0]).store(1u, relaxed);
      thread.atomic(words[1]).store(1u, relaxed);
    } else {
      while (thread.atomic(words[1]).load(relaxed) == 0) thread.spin_hint();
      zoo::check(thread, thread.atomic(words[0]).load(relaxed) == 1, "the flag came before the message");
    }
  };
  for (const StrategyKind strategy : {StrategyKind::random, StrategyKind::round_robin, StrategyKind::pct,
                                      StrategyKind::lockstep, StrategyKind::swarm}) {
    EXPECT_TRUE(found_by(ageing(strategy), kernel)) << static_cast<int>(strategy);
  }
}

TEST(OldValues, UpdatesReadTheNewestValueAlsoWhenTheyFail) {
  const auto update = [](auto word) { return word.fetch_or(0u, relaxed); };
  const auto lost = [](auto word) {
    std::uint32_t expected = 7;
    word.compare_exchange(expected, 8u, relaxed, relaxed);
    return expected;
  };
  EXPECT_FALSE(found(message(store_relaxed, load_relaxed, update)));
  EXPECT_FALSE(found(message(store_relaxed, load_relaxed, lost)));
}

TEST(OldValues, AnUpdateAcquiresAndALostExchangeDoesSoByItsOwnOrder) {
  const auto with = [](auto failure) {
    return [=](auto word) {
      std::uint32_t expected = 7;
      word.compare_exchange(expected, 8u, acquire, failure);
      return expected;
    };
  };
  EXPECT_FALSE(found(message(
      store_release, [](auto word) { return word.fetch_or(0u, acquire); }, load_relaxed)));
  EXPECT_TRUE(found(message(
      store_release, [](auto word) { return word.fetch_or(0u, relaxed); }, load_relaxed)));
  EXPECT_FALSE(found(message(store_release, with(acquire), load_relaxed)));
  EXPECT_TRUE(found(message(store_release, with(relaxed), load_relaxed)));
}

// A third lane accesses the flag between the accesses of the two other lanes.
template <class Touch>
auto passed_on(Touch touch) {
  return [=](auto& thread, std::uint32_t* words) {
    const auto flag = thread.atomic(words[1]);
    if (thread.lane() == 0) {
      thread.atomic(words[0]).store(1u, relaxed);
      flag.store(1u, release);
    } else if (thread.lane() == 1) {
      if (flag.load(relaxed) == 1) touch(flag);
    } else if (flag.load(acquire) == 2) {
      zoo::check(thread, thread.atomic(words[0]).load(relaxed) == 1, "the flag came before the message");
    }
  };
}

TEST(OldValues, ARelaxedUpdatePassesAReleaseOnAndARelaxedStoreDoesNot) {
  EXPECT_FALSE(found(passed_on([](auto flag) { flag.fetch_add(1u, relaxed); }), {1, 3}));
  EXPECT_TRUE(found(passed_on([](auto flag) { flag.store(2u, relaxed); }), {1, 3}));
}

TEST(OldValues, AWordNeverGoesBack) {
  const auto kernel = [](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) {
      for (std::uint32_t value = 1; value <= 4; ++value) thread.atomic(words[0]).store(value, relaxed);
      zoo::check(thread, thread.atomic(words[0]).load(relaxed) == 4, "its own store");
      return;
    }
    for (std::uint32_t last = 0, looks = 0; looks < 6; ++looks) {
      const std::uint32_t now = thread.atomic(words[0]).load(relaxed);
      zoo::check(thread, now >= last, "a word went back");
      last = now;
    }
  };
  EXPECT_FALSE(found(kernel));
}

template <class Meet>
auto store_and_meet(Meet meet) {
  return [=](auto& thread, std::uint32_t* words) {
    const std::uint32_t me = thread.rank_in_block();
    thread.atomic(words[me]).store(1u, relaxed);
    meet(thread);
    zoo::check(thread, thread.atomic(words[me ^ 1u]).load(relaxed) == 1, "a store from before the meeting");
  };
}

TEST(OldValues, BarriersOrderLanesAndVotesDoNot) {
  EXPECT_FALSE(found(store_and_meet([](auto& thread) { thread.block_barrier(); }), {1, 34}));
  EXPECT_FALSE(found(store_and_meet([](auto& thread) { thread.warp().sync(); })));
  EXPECT_TRUE(found(store_and_meet([](auto& thread) { thread.warp().any(true); })));
}

TEST(OldValues, ALaunchSeesAllThatWasBefore) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Device device(ageing(StrategyKind::random, seed));
    Stream stream(device);
    Buffer<std::uint32_t> words(2);
    words.fill_bytes(stream, 0);
    const auto write = [](auto& thread, std::uint32_t* memory) { thread.atomic(memory[0]).fetch_add(1u, relaxed); };
    const auto copy = [](auto& thread, std::uint32_t* memory) {
      thread.atomic(memory[1]).store(thread.atomic(memory[0]).load(relaxed), relaxed);
    };
    launch(stream, {1, 8}, write, words.data());
    launch(stream, {1, 1}, copy, words.data());
    EXPECT_EQ(words.to_host(stream)[1], 8u);
  }
}

// A lane that waits sees the store in the end.
TEST(OldValues, EveryStoreIsReadInTheEnd) {
  const auto kernel = [](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) thread.atomic(words[0]).store(1u, relaxed);
    while (thread.lane() == 1 && thread.atomic(words[0]).load(relaxed) == 0) thread.spin_hint();
  };
  EXPECT_FALSE(found(kernel));
}

TEST(OldValues, SchedulesCarryThem) {
  Shrunk few;
  ASSERT_NO_FATAL_FAILURE(replay_and_shrink(ageing(StrategyKind::random),
                                            message(store_relaxed, load_relaxed, load_relaxed), seeds, "old", few));
  EXPECT_NE(to_text(few.schedule).find('o'), std::string::npos) << to_text(few.schedule);
}

TEST(OldValues, NeedTheDeterministicModeAndNoHeldStores) {
  ExecutorOptions options;
  options.read_old_values = true;
  EXPECT_THROW(Device{options}, Fault);
  options = ageing(StrategyKind::random);
  options.hold_stores = true;
  EXPECT_THROW(Device{options}, Fault);
}

}  // namespace
}  // namespace simt::faults
