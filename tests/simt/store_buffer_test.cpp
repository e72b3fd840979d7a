// These tests run litmus tests of memory models on stores that the executor holds back. Results that a GPU allows must
// occur, and results that it forbids must never occur.
#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

constexpr std::uint64_t seeds = 1000;

ExecutorOptions holding(StrategyKind strategy, std::uint64_t seed = 1) {
  ExecutorOptions options = searching(strategy, seed);
  options.hold_stores = true;
  options.slice = 1;
  return options;
}

constexpr StrategyKind seeded[] = {StrategyKind::random, StrategyKind::round_robin, StrategyKind::pct,
                                   StrategyKind::lockstep};

template <class Kernel>
bool found_by(const ExecutorOptions& options, Kernel kernel, std::uint32_t lanes = 2) {
  Device device(options);
  return first_failing_seed(device, options, {1, lanes}, kernel, seeds) != 0;
}

// Explores all schedules with at most this many preemptions and held stores. Returns whether the outcome exists.
template <class Kernel>
bool exists(std::uint32_t preemptions, bool hold_stores, Kernel kernel, std::uint32_t lanes = 2) {
  const auto paths = std::make_shared<Exploration>(preemptions);
  ExecutorOptions options = deterministic(1);
  Device device(options);
  options.strategy = StrategyKind::exploring;
  options.exploration = paths;
  options.hold_stores = hold_stores;
  bool found = false;
  do {
    found = found || outcome_on(device, options, {1, lanes}, kernel).faulted;
  } while (paths->advance());
  return found;
}

// Dekker: Each of two lanes marks its own word, then looks at the other's word. At least one must see the other's mark.
template <class Mark, class Look>
auto dekker(Mark mark, Look look) {
  return [=](auto& thread, std::uint32_t* words) {
    const std::uint32_t me = thread.lane();
    mark(thread.atomic(words[me]));
    if (look(thread.atomic(words[1 - me])) != 0) return;
    zoo::check(thread, thread.atomic(words[2]).fetch_add(1u, relaxed) == 0, "both lanes missed the other's mark");
  };
}
const auto store_relaxed = [](auto word) { word.store(1u, relaxed); };
const auto store_release = [](auto word) { word.store(1u, release); };
const auto load_relaxed = [](auto word) { return word.load(relaxed); };
const auto load_acquire = [](auto word) { return word.load(acquire); };
const auto update_relaxed = [](auto word) { return word.fetch_or(0u, relaxed); };
const auto update_acq_rel = [](auto word) { return word.fetch_or(0u, acq_rel); };

TEST(StoreBuffer, DekkerFailsWithHeldStoresOnly) {
  const auto kernel = dekker(store_relaxed, load_relaxed);
  for (const StrategyKind strategy : seeded) {
    EXPECT_TRUE(found_by(holding(strategy), kernel)) << static_cast<int>(strategy);
    ExecutorOptions plain = holding(strategy);
    plain.hold_stores = false;
    EXPECT_FALSE(found_by(plain, kernel)) << static_cast<int>(strategy);
  }
  EXPECT_TRUE(exists(2, true, kernel));
  EXPECT_FALSE(exists(4, false, kernel));
}

TEST(StoreBuffer, TheSwarmHoldsStoresNowAndThen) {
  EXPECT_TRUE(found_by(searching(StrategyKind::swarm), dekker(store_relaxed, load_relaxed)));
}

TEST(StoreBuffer, ReleaseAndAcquireDoNotOrderAStoreBeforeALoad) {
  EXPECT_TRUE(exists(2, true, dekker(store_release, load_acquire)));
}

TEST(StoreBuffer, AnUpdateInPlaceOfTheLoadRepairsDekker) {
  EXPECT_FALSE(exists(4, true, dekker(store_relaxed, update_acq_rel)));
  EXPECT_FALSE(found_by(holding(StrategyKind::random), dekker(store_relaxed, update_acq_rel)));
  EXPECT_TRUE(exists(2, true, dekker(store_relaxed, update_relaxed))) << "without release it orders nothing";
}

// One lane writes a message and raises a flag. The other lane sees the flag and reads the message.
template <class Raise>
auto message(Raise raise) {
  return [=](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) {
      thread.atomic(words[0]).store(1u, relaxed);
      thread.atomic(words[1]).store(1u, relaxed);
      raise(thread.atomic(words[2]));
      thread.atomic(words[3]).load(relaxed);
    } else if (thread.atomic(words[2]).load(acquire) != 0) {
      zoo::check(thread, thread.atomic(words[0]).load(relaxed) == 1, "the flag came before the message");
      zoo::check(thread, thread.atomic(words[1]).load(relaxed) == 1, "the flag came before the message");
    }
  };
}

TEST(StoreBuffer, AReleaseIsNotOvertaken) {
  for (const StrategyKind strategy : seeded) EXPECT_FALSE(found_by(holding(strategy), message(store_release)));
  EXPECT_FALSE(exists(4, true, message(store_release)));
  EXPECT_FALSE(exists(4, true, message([](auto word) { word.fetch_or(1u, release); })));
  EXPECT_FALSE(exists(4, true, message([](auto word) {
                        std::uint32_t expected = 0;
                        word.compare_exchange(expected, 1u, acq_rel, relaxed);
                      })));
}

TEST(StoreBuffer, ARelaxedFlagOvertakesItsMessage) {
  EXPECT_TRUE(exists(2, true, message(store_relaxed)));
  EXPECT_TRUE(exists(2, true, message([](auto word) { word.fetch_or(1u, relaxed); })));
  EXPECT_FALSE(exists(4, false, message(store_relaxed)));
}

TEST(StoreBuffer, ALaneSeesItsOwnStores) {
  const auto kernel = [](auto& thread, std::uint32_t* words) {
    std::uint32_t* const mine = words + 2 * thread.lane();
    thread.atomic(mine[0]).store(1u, relaxed);
    zoo::check(thread, thread.atomic(mine[0]).load(relaxed) == 1, "first store");
    thread.atomic(mine[0]).store(2u, relaxed);
    zoo::check(thread, thread.atomic(mine[0]).load(acquire) == 2, "second store");
    zoo::check(thread, thread.atomic(mine[0]).fetch_add(1u, relaxed) == 2, "update");
    thread.atomic(mine[1]).store(5u, relaxed);
    auto& both = *reinterpret_cast<std::uint64_t*>(mine);
    zoo::check(thread, thread.atomic(both).load(relaxed) == (std::uint64_t{5} << 32 | 3), "a word of two");
    thread.atomic(both).store(std::uint64_t{7} << 32 | 6, relaxed);
    zoo::check(thread, thread.atomic(mine[1]).load(relaxed) == 7, "half a word");
  };
  for (const StrategyKind strategy : seeded) EXPECT_FALSE(found_by(holding(strategy), kernel));
  EXPECT_FALSE(exists(2, true, kernel));
}

TEST(StoreBuffer, StoresToOneWordKeepTheirOrder) {
  const auto kernel = [](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) {
      for (std::uint32_t value = 1; value <= 4; ++value) thread.atomic(words[0]).store(value, relaxed);
      for (int i = 0; i < 4; ++i) thread.atomic(words[1]).load(relaxed);
      return;
    }
    for (std::uint32_t last = 0, looks = 0; looks < 6; ++looks) {
      const std::uint32_t found = thread.atomic(words[0]).load(relaxed);
      zoo::check(thread, found >= last, "a word went back");
      last = found;
    }
  };
  for (const StrategyKind strategy : seeded) EXPECT_FALSE(found_by(holding(strategy), kernel));
}

template <class Meet>
auto store_and_meet(Meet meet) {
  return [=](auto& thread, std::uint32_t* words) {
    thread.atomic(words[thread.lane()]).store(1u, relaxed);
    meet(thread);
    zoo::check(thread, thread.atomic(words[thread.lane() ^ 1u]).load(relaxed) == 1, "a store from before the meeting");
  };
}

TEST(StoreBuffer, BarriersOrderStoresAndVotesDoNot) {
  const auto barrier = store_and_meet([](auto& thread) { thread.block_barrier(); });
  const auto sync = store_and_meet([](auto& thread) { thread.warp().sync(); });
  const auto vote = store_and_meet([](auto& thread) { thread.warp().any(true); });
  EXPECT_FALSE(exists(3, true, barrier));
  EXPECT_FALSE(exists(3, true, sync));
  EXPECT_TRUE(exists(3, true, vote));
  EXPECT_FALSE(exists(3, false, vote));
}

TEST(StoreBuffer, TheHostSeesAllStores) {
  Device device(holding(StrategyKind::random));
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    device.restart(holding(StrategyKind::random, seed));
    Stream stream(device);
    Buffer<std::uint32_t> words(64);
    words.fill_bytes(stream, 0);
    const auto kernel = [](auto& thread, std::uint32_t* memory) {
      thread.atomic(memory[thread.rank_in_grid()]).store(7u, relaxed);
    };
    launch(stream, {2, 32}, kernel, words.data());
    for (const std::uint32_t word : words.to_host(stream)) EXPECT_EQ(word, 7u);
  }
}

// The lane with the store waits at a vote for the lane that waits for the store.
TEST(StoreBuffer, EveryStoreBecomesVisibleInTheEnd) {
  const auto kernel = [](auto& thread, std::uint32_t* words) {
    if (thread.lane() == 0) thread.atomic(words[0]).store(1u, relaxed);
    while (thread.lane() == 1 && thread.atomic(words[0]).load(relaxed) == 0) thread.spin_hint();
    thread.warp().any(true);
  };
  for (const StrategyKind strategy : seeded) EXPECT_FALSE(found_by(holding(strategy), kernel));
}

TEST(StoreBuffer, SchedulesCarryHeldStores) {
  Shrunk few;
  ASSERT_NO_FATAL_FAILURE(
      replay_and_shrink(holding(StrategyKind::random), dekker(store_relaxed, load_relaxed), seeds, "held [", few));
  // One store is held, and its lane gives way after its load.
  EXPECT_LE(few.schedule.decisions.size(), 2u) << to_text(few.schedule);
  EXPECT_NE(to_text(few.schedule).find('h'), std::string::npos);
}

TEST(StoreBuffer, NeedsTheDeterministicMode) {
  ExecutorOptions options;
  options.hold_stores = true;
  EXPECT_THROW(Device{options}, Fault);
}

}  // namespace
}  // namespace simt::faults
