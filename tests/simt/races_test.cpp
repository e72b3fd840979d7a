// The race build: a missing order between two lanes is reported under nearly any schedule, with both places, and what
// the vocabulary promises to order is clean.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "simt/cpu/races.hpp"
#include "simt/simt.hpp"

namespace simt {
namespace {

constexpr std::uint64_t last_seed = 50;

ExecutorOptions deterministic(std::uint64_t seed) {
  ExecutorOptions options;
  options.mode = ExecutorMode::deterministic;
  options.seed = seed;
  return options;
}

// Device memory of 64 zeros is the first argument of the kernel.
template <class Kernel>
RaceReport races_of(const ExecutorOptions& options, LaunchShape shape, Kernel kernel) {
  Device device(options);
  Stream stream(device);
  Buffer<std::uint32_t> words(64);
  words.fill_bytes(stream, 0);
  take_race_reports();
  launch(stream, shape, kernel, words.data());
  return take_race_reports();
}

// "races_test.cpp:40 races_test.cpp:47", the smaller place first.
std::string places(const Race& race) {
  if (race.accesses.size() != 2) return "no two accesses";
  const auto [first, second] = std::minmax(race.accesses[0].place(), race.accesses[1].place());
  return first + " " + second;
}

std::string pair_of(int line, int other_line) {
  const auto place = [](int at) { return "races_test.cpp:" + std::to_string(at); };
  const auto [first, second] = std::minmax(place(line), place(other_line));
  return first + " " + second;
}

// Every seed reports exactly the race between these two lines.
template <class Kernel>
void expect_race(LaunchShape shape, Kernel kernel, int line, int other_line) {
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RaceReport report = races_of(deterministic(seed), shape, kernel);
    ASSERT_FALSE(report.clean());
    for (const Race& race : report.races) EXPECT_EQ(places(race), pair_of(line, other_line)) << race.text();
  }
}

template <class Kernel>
void expect_clean(LaunchShape shape, Kernel kernel) {
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RaceReport report = races_of(deterministic(seed), shape, kernel);
    ASSERT_TRUE(report.clean()) << report.text();
  }
}

// Lane 0 writes words[1] and raises words[0]; lane 1 waits for it and reads.
template <class Store, class Load>
struct Publish {
  static constexpr int write_line = __LINE__ + 5;
  static constexpr int read_line = __LINE__ + 8;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    if (thread.lane() == 0) {
      words[1] = 42;
      thread.atomic(words[0]).store(1u, Store{});
    } else {
      while (thread.atomic(words[0]).load(Load{}) == 0) thread.spin_hint();
      words[2] = words[1] + 1;
    }
  }
};

TEST(Races, RelaxedPublicationIsReported) {
  using Kernel = Publish<Relaxed, Relaxed>;
  expect_race({1, 2}, Kernel{}, Kernel::write_line, Kernel::read_line);
}

TEST(Races, ReleaseWithoutAcquireIsReported) {
  using Kernel = Publish<Release, Relaxed>;
  expect_race({1, 2}, Kernel{}, Kernel::write_line, Kernel::read_line);
}

TEST(Races, ReleaseAndAcquirePublish) { expect_clean({1, 2}, Publish<Release, Acquire>{}); }

struct PlainIncrement {
  static constexpr int line = __LINE__ + 3;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    words[thread.rank_in_block()] += 1;
  }
};

TEST(Races, LanesOfTwoBlocksRaceToo) { expect_race({2, 1}, PlainIncrement{}, PlainIncrement::line, PlainIncrement::line); }

}  // namespace
}  // namespace simt
