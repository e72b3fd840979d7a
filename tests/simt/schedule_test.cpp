// These tests record, write, replay and shrink schedules.
#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

TEST(Schedule, TextForm) {
  const Schedule schedule{42,
                          {{0, no_lane, 1, 0, Decision::Kind::go_on_with, 4},
                           {0, 3, 17, 0, Decision::Kind::go_on_with, 5},
                           {0, 5, 2, 9, Decision::Kind::go_on_with, 3},
                           {2, 32, 6, 0, Decision::Kind::leave_at_once, 0},
                           {2, 32, 7, 0, Decision::Kind::group, 0xff}}};
  EXPECT_EQ(to_text(schedule), "v1:42:r.1s4,3.17s5,5.2.9s3,@2,32.6i,32.7gff");
  EXPECT_EQ(parse_schedule(to_text(schedule)), schedule);
  EXPECT_EQ(parse_schedule("v1:7:"), (Schedule{7, {}}));
}

TEST(Schedule, MistakesAreNamedByColumn) {
  const auto complaint = [](const char* text) {
    try {
      parse_schedule(text);
    } catch (const Fault& fault) {
      return std::string(fault.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint("v2:1:"), "schedule, column 1: v1: expected");
  EXPECT_EQ(complaint("v1:x:"), "schedule, column 4: number expected");
  EXPECT_EQ(complaint("v1:1:3s4"), "schedule, column 7: . expected");
  EXPECT_EQ(complaint("v1:1:3.4x"), "schedule, column 9: s, g, i, h or o expected");
  EXPECT_EQ(complaint("v1:1:3.4s5;"), "schedule, column 11: , expected");
  EXPECT_EQ(complaint("v1:1:3.4gfffffffff"), "schedule, column 10: hexadecimal number expected");
}

// Mixture has groups, spins, parked lanes, barriers, exits at different times, several warps, blocks and launches.
struct Mixture {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (std::uint32_t i = 0; i < 2 + thread.lane() % 3; ++i) {
      const auto group = thread.converged();
      const auto same = group.match_any(thread.lane() % 2);
      if (same.leader()) thread.atomic(words[same.num_threads() % 8]).fetch_add(i, relaxed);
      void* block = thread.device_heap().malloc(16 + thread.lane());
      if ((reinterpret_cast<std::uintptr_t>(block) >> 5) % 2 == 0) thread.spin_hint();
      thread.device_heap().free(block);
    }
    if (thread.rank_in_block() == 1) {
      for (int i = 0; i < 100; ++i) thread.atomic(words[10]).fetch_add(1u, relaxed);
      thread.atomic(words[9 + thread.block() * 8]).store(1u, release);
    }
    while (thread.lane() % 8 == 0 && thread.atomic(words[9 + thread.block() * 8]).load(acquire) == 0) {
    }
    thread.block_barrier();
  }
};

std::uint64_t hash_of_mixture(Device& device) {
  Stream stream(device);
  Buffer<std::uint32_t> words(zoo::word_count);
  words.fill_bytes(stream, 0);
  for (int i = 0; i < 2; ++i) launch(stream, {3, 40}, Mixture{}, words.data());
  return device.hash();
}

ExecutorOptions mixture_options(std::uint64_t seed) {
  ExecutorOptions options = searching(StrategyKind::swarm, seed);
  options.device_heap_bytes = 1 << 15;
  options.resident_blocks = 2;
  return options;
}

TEST(Schedule, ReplayTakesTheSameSteps) {
  Device device(mixture_options(1));
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    ExecutorOptions options = mixture_options(seed);
    device.restart(options);
    const std::uint64_t unrecorded = hash_of_mixture(device);
    options.record = true;
    device.restart(options);
    ASSERT_EQ(hash_of_mixture(device), unrecorded) << "recording changes the run of seed " << seed;
    const Schedule schedule = device.schedule();
    const Schedule parsed = parse_schedule(to_text(schedule));
    ASSERT_EQ(parsed, schedule);
    device.restart(replaying(options, parsed));
    EXPECT_EQ(hash_of_mixture(device), unrecorded) << "seed " << seed << ": " << device.last_launch().strategy;
    EXPECT_TRUE(device.schedule() == schedule) << "a replay records what it replays";
    options.record = false;
    device.restart(replaying(options, parsed));
    EXPECT_EQ(hash_of_mixture(device), unrecorded);
  }
}

TEST(Schedule, AReplayThatTakesOtherStepsShows) {
  int calls = 0;
  const auto uncontrolled = [&calls](auto& thread, std::uint32_t* words) {
    if (++calls % 3 == 0) thread.spin_hint();
    thread.atomic(words[0]).fetch_add(1u, relaxed);
  };
  Device device(deterministic(1));
  ExecutorOptions options = searching(StrategyKind::swarm);
  options.record = true;
  outcome_on(device, options, {1, 4}, uncontrolled);
  const std::uint64_t hash = device.hash();
  const Schedule schedule = device.schedule();
  outcome_on(device, replaying(options, schedule), {1, 4}, uncontrolled);
  EXPECT_NE(device.hash(), hash);
}

TEST(Schedule, ScriptsNeedTheirSeed) {
  ExecutorOptions options = replaying(deterministic(1), Schedule{2, {}});
  options.seed = 3;
  EXPECT_THROW(Device device(options), Fault);
  options.script = nullptr;
  EXPECT_THROW(Device device(options), Fault);
}

template <class Kernel>
Shrunk shrunk_failure(Device& device, StrategyKind strategy, LaunchShape shape, Kernel kernel) {
  ExecutorOptions options = searching(strategy);
  options.seed = first_failing_seed(device, options, shape, kernel, 5000);
  EXPECT_NE(options.seed, 0u);
  options.record = true;
  EXPECT_TRUE(outcome_on(device, options, shape, kernel).faulted);
  const Schedule schedule = device.schedule();
  const auto still_fails = [&](const Schedule& candidate) {
    const Outcome outcome = outcome_on(device, replaying(options, candidate), shape, kernel);
    return outcome.faulted && outcome.kind == FaultKind::failed_check;
  };
  Shrunk shrunk = shrink(schedule, still_fails);
  EXPECT_TRUE(shrunk.minimal);
  EXPECT_TRUE(still_fails(shrunk.schedule)) << to_text(shrunk.schedule);
  EXPECT_EQ(shrunk.schedule.seed, options.seed);
  return shrunk;
}

template <class Kernel>
std::string shrunk_text(Device& device, StrategyKind strategy, LaunchShape shape, Kernel kernel, std::size_t most) {
  const Shrunk shrunk = shrunk_failure(device, strategy, shape, kernel);
  EXPECT_LE(shrunk.schedule.decisions.size(), most) << to_text(shrunk.schedule);
  EXPECT_GE(shrunk.schedule.decisions.size(), 1u);
  return to_text(shrunk.schedule);
}

TEST(Shrink, LeavesThePreemptionsThatMatter) {
  Device device(deterministic(1));
  shrunk_text(device, StrategyKind::random, {1, 2}, zoo::LostUpdate{}, 1);
  shrunk_text(device, StrategyKind::random, {1, 2}, zoo::EarlyUnlock{}, 1);
  shrunk_text(device, StrategyKind::random, {1, 4}, zoo::RecycledPage{}, 3);
  shrunk_text(device, StrategyKind::swarm, {1, 4}, zoo::AbaStack{}, 10);
  shrunk_text(device, StrategyKind::random, {1, 32}, zoo::LostUpdate{}, 1);
  EXPECT_NE(shrunk_text(device, StrategyKind::random, {1, 32}, zoo::TrustsWholeWarp{}, 1).find_first_of("ig"),
            std::string::npos);
}

TEST(Shrink, KeepsToItsBound) {
  Schedule schedule;
  for (std::uint32_t i = 1; i <= 64; ++i) schedule.decisions.push_back({0, 0, i, 0, Decision::Kind::go_on_with, 1});
  const auto needs_three = [](const Schedule& candidate) {
    int found = 0;
    for (const Decision& decision : candidate.decisions) found += decision.step % 21 == 1 && decision.step < 60;
    return found == 3;
  };
  const Shrunk whole = shrink(schedule, needs_three);
  EXPECT_TRUE(whole.minimal);
  EXPECT_EQ(to_text(whole.schedule), "v1:1:0.1s1,0.22s1,0.43s1");
  const Shrunk cut = shrink(schedule, needs_three, 5);
  EXPECT_FALSE(cut.minimal);
  EXPECT_EQ(cut.runs, 5u);
  EXPECT_TRUE(needs_three(cut.schedule));
}

}  // namespace
}  // namespace simt::faults
