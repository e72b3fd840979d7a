// These tests of the race build check the number of reports, also after faults, and the launches that it refuses.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/simt/races_rig.hpp"

namespace simt {
namespace {

using test::deterministic;
using test::races_of;

struct TrapAfterRace {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    words[0] = thread.lane();
    thread.warp().sync();
    thread.trap();
  }
};
struct ThrowFromALane {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    thread.atomic(words[0]).fetch_add(1u, relaxed);
    if (thread.lane() == 3) throw std::runtime_error("a text that is too long for the object itself");
  }
};

TEST(RaceReports, AFaultLosesNoReportAndAddsNone) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    EXPECT_EQ(races_of(deterministic(1), {1, 2}, TrapAfterRace{}).races.size(), 1u);
    EXPECT_TRUE(races_of(deterministic(1), {2, 32}, ThrowFromALane{}).clean());
  }
}

struct CountTogether {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (int round = 0; round < 20; ++round) thread.atomic(words[0]).fetch_add(1u, relaxed);
  }
};

TEST(RaceReports, TheHistoryOfLanesThatDoNotRaceHasNoRace) {
  ExecutorOptions options = deterministic(1);
  options.history_steps = 1 << 14;
  const RaceReport report = races_of(options, {1, 32}, CountTogether{});
  EXPECT_TRUE(report.clean()) << report.text();
}

// In RaceInALoop a lane makes a thousand accesses with the same race. The report of each would take seconds.
struct RaceInALoop {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (int round = 0; round < 20; ++round) {
      for (std::uint32_t i = 0; i < 50; ++i) words[i] = thread.lane();
      thread.spin_hint();
    }
  }
};

TEST(RaceReports, ALaneThatRepeatsAReportIsWatchedAgainInTheNextLaunch) {
  Device device(deterministic(1));
  Stream stream(device);
  Buffer<std::uint32_t> words(64);
  take_race_reports();
  for (int launches = 0; launches < 5; ++launches) {
    launch(stream, {1, 2}, RaceInALoop{}, words.data());
    const RaceReport report = take_race_reports();
    EXPECT_EQ(report.races.size(), 1u) << report.text();
    EXPECT_LT(report.reports, 10u);
  }
}

std::string fault_text(const ExecutorOptions& options, LaunchShape shape) {
  try {
    Device device(options);
    Stream stream(device);
    Buffer<std::uint32_t> words(1024);
    launch(stream, shape, TrapAfterRace{}, words.data());
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(RaceReports, ThreadsModeIsRefused) { EXPECT_NE(fault_text({}, {1, 1}).find("deterministic"), std::string::npos); }

TEST(RaceReports, TooManyResidentLanesAreRefused) {
  ExecutorOptions options = deterministic(1);
  options.resident_blocks = 8;
  EXPECT_NE(fault_text(options, {8, 1024}).find("8000 resident lanes"), std::string::npos);
}

}  // namespace
}  // namespace simt
