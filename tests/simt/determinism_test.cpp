// These tests check that in deterministic mode a seed fixes every step, every address and every byte of fresh memory.
#include <set>

#include "tests/simt/fault_helpers.hpp"

namespace simt::faults {
namespace {

// Everything uses all sources of chance that could change a schedule: addresses, clock, SM, groups, the device heap and
// fresh memory.
struct Everything {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto slot = (reinterpret_cast<std::uintptr_t>(words) >> 12) + thread.clock() + thread.sm() * 3;
    for (std::uint32_t i = 0; i < 4 + thread.lane() % 3; ++i) {
      const auto group = thread.converged();
      const std::uint32_t random = words[8 + (slot + i) % 64];
      if (group.leader()) thread.atomic(words[(random + group.num_threads()) % 8]).fetch_add(i, relaxed);
      void* block = thread.device_heap().malloc(16 + thread.lane());
      if ((reinterpret_cast<std::uintptr_t>(block) >> 5) % 2 == 0) thread.spin_hint();
      thread.device_heap().free(block);
    }
  }
};

struct Trace {
  LaunchReport report;
  std::vector<std::uint32_t> memory;
};

Trace trace(const ExecutorOptions& options, int launches) {
  Device device(options);
  Stream stream(device);
  Buffer<std::uint32_t> words(128);
  for (int i = 0; i < launches; ++i) launch(stream, {6, 48}, Everything{}, words.data());
  return {device.last_launch(), words.to_host(stream)};
}

TEST(Determinism, SameSeedSameSteps) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Trace first = trace(deterministic(seed), 2);
    EXPECT_NE(first.report.hash, 0u);
    EXPECT_GT(first.report.steps, 1000u);
    for (int repetition = 0; repetition < 3; ++repetition) {
      const Trace again = trace(deterministic(seed), 2);
      EXPECT_EQ(again.report.hash, first.report.hash);
      EXPECT_EQ(again.report.steps, first.report.steps);
      EXPECT_EQ(again.report.switches, first.report.switches);
      EXPECT_EQ(again.memory, first.memory);
    }
  }
}

TEST(Determinism, OtherSeedOtherSteps) {
  std::set<std::uint64_t> hashes;
  std::set<std::string> strategies;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const LaunchReport report = trace(deterministic(seed), 1).report;
    hashes.insert(report.hash);
    strategies.insert(report.strategy);
  }
  EXPECT_EQ(hashes.size(), 50u);
  EXPECT_EQ(strategies.size(), 7u) << "every preemption interval from 1 to 64 is drawn";
}

TEST(Determinism, LaunchesOfOneDeviceDiffer) {
  EXPECT_NE(trace(deterministic(1), 1).report.hash, trace(deterministic(1), 2).report.hash);
}

struct Race {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* word) const {
    const std::uint32_t seen = thread.atomic(*word).load(relaxed);
    thread.atomic(*word).store(seen + 1, relaxed);
    if (seen % 5 == 4) thread.trap();
  }
};

TEST(Determinism, FaultsRepeatToo) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome first = outcome_of(deterministic(seed), {1, 64}, Race{});
    EXPECT_EQ(outcome_of(deterministic(seed), {1, 64}, Race{}).text, first.text);
  }
}

TEST(Determinism, ThreadsModeClaimsNoReplay) { EXPECT_EQ(trace(ExecutorOptions{}, 1).report.hash, 0u); }

// converged() must return subsets of all kinds: only the caller, some lanes, and all 32.
struct GroupSize {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* sizes) const {
    const auto group = thread.converged();
    if (group.leader()) thread.atomic(sizes[group.num_threads()]).fetch_add(1u, relaxed);
  }
};

TEST(Determinism, ConvergedGroupsAreAdversarial) {
  std::uint32_t single = 0;
  std::uint32_t partial = 0;
  std::uint32_t whole = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Device device(deterministic(seed));
    Stream stream(device);
    Buffer<std::uint32_t> sizes(33);
    sizes.fill_bytes(stream, 0);
    launch(stream, {2, 32}, GroupSize{}, sizes.data());
    const auto seen = sizes.to_host(stream);
    single += seen[1];
    whole += seen[32];
    for (std::uint32_t size = 2; size < 32; ++size) partial += seen[size];
  }
  EXPECT_GT(single, 10u);
  EXPECT_GT(partial, 10u);
  EXPECT_GT(whole, 10u);
}

TEST(ThreadsMode, ConvergedGroupsAreAsLargeAsPossible) {
  Device device(0);
  Stream stream(device);
  Buffer<std::uint32_t> sizes(33);
  sizes.fill_bytes(stream, 0);
  launch(stream, {10, 96}, GroupSize{}, sizes.data());
  EXPECT_EQ(sizes.to_host(stream)[32], 30u);
}

}  // namespace
}  // namespace simt::faults
