// These tests check which worker may open the device at which time. Shell scripts replace the workers.
#include "harness/front/workers/succession.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// The script repeats each line that it reads. Before the first line, it does what the argument "silent", "broken" or
// "babbling" says. Without these, --wait makes it write "loaded".
constexpr const char* script = R"(#!/bin/bash
events=$3
echo "$*" >> "$0.starts"
case " $* " in
  *" silent "*) sleep 600 ;;
  *" broken "*) exit 1 ;;
  *" babbling "*) echo '{"event":"note"}' >&$events ;;
  *" --wait "*) echo '{"event":"loaded"}' >&$events ;;
esac
while read -r line; do
  [ "$line" != quit ] || exit 0
  echo "read <$line>" >&$events
done
)";

class SuccessionTest : public ::testing::Test {
 protected:
  SuccessionTest() {
    folder_ = fs::path(::testing::TempDir()) / ("succession-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    const fs::path path = folder_ / "worker";
    std::ofstream(path) << script;
    chmod(path.c_str(), 0700);
    program_ = {"cpu", path.string()};
  }
  ~SuccessionTest() override { fs::remove_all(folder_); }

  static WorkerReply next_line(WorkerProcess& process) {
    return process.next_line(WorkerProcess::Clock::now() + std::chrono::seconds(20), [] {});
  }
  // Expects that the worker's next lines are these.
  static void expect_lines(WorkerProcess& process, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) EXPECT_EQ(next_line(process).line, line);
  }

  // Returns how many workers were started with this argument. Waits at most 20 s for `wanted` of them.
  std::size_t starts_of(const std::string& argument, std::size_t wanted) const {
    std::size_t count = 0;
    for (int attempt = 0; attempt < 2000 && count < wanted; ++attempt) {
      count = 0;
      std::ifstream file(program_.path + ".starts");
      for (std::string line; std::getline(file, line);) count += line.find(argument) != std::string::npos ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return count;
  }

  fs::path folder_;
  WorkerProgram program_;
  const std::string loaded_ = R"({"event":"loaded"})";
};

TEST_F(SuccessionTest, TheFirstWorkerWaitsForNobody) {
  Succession succession(program_);
  const auto worker = succession.begin({"a"});
  EXPECT_FALSE(succession.began_early());
  succession.hand_over(*worker);
  worker->send("end");
  expect_lines(*worker, {"read <end>"});
}

TEST_F(SuccessionTest, AWorkerOpensTheDeviceWhileOneThatWasToldToQuitEnds) {
  Succession succession(program_);
  succession.leave(succession.begin({"a"}), true);
  const auto worker = succession.begin({"b"});
  EXPECT_TRUE(succession.began_early());
  expect_lines(*worker, {loaded_, "read <>"});
  EXPECT_TRUE(succession.has_leaving());
  succession.see_off();
  succession.hand_over(*worker);
  expect_lines(*worker, {"read <>"});
}

TEST_F(SuccessionTest, AWorkerOpensTheDeviceAfterOneThatWasKilledIsGone) {
  Succession succession(program_);
  auto killed = succession.begin({"a"});
  killed->begin_kill();
  succession.leave(std::move(killed), false);
  const auto worker = succession.begin({"b"});
  EXPECT_FALSE(succession.began_early());
  worker->send("mark");  // the worker reads it before both empty lines
  succession.see_off();
  succession.hand_over(*worker);
  expect_lines(*worker, {loaded_, "read <mark>", "read <>", "read <>"});
}

TEST_F(SuccessionTest, ADeviceThatRefusedIsOpenedLateFromThenOn) {
  Succession succession(program_);
  succession.begin_late();
  succession.leave(succession.begin({"a"}), true);
  static_cast<void>(succession.begin({"b"}));
  EXPECT_FALSE(succession.began_early());
}

TEST_F(SuccessionTest, TheExpectedWorkerIsPrepared) {
  Succession succession(program_);
  succession.expect({"b"});
  auto first = succession.begin({"a"});
  succession.settle([] {}, 20);
  succession.leave(std::move(first), true);
  const auto worker = succession.begin({"b"});
  EXPECT_TRUE(succession.began_early());
  expect_lines(*worker, {"read <>"});  // the earlier lines were read while the worker was prepared
}

// The log may be lost while the program waits for a line.
TEST_F(SuccessionTest, AWaitThatAnErrorEndedLeavesNoReadBehind) {
  Succession succession(program_);
  const auto worker = succession.begin({"a"});
  const auto limit = WorkerProcess::Clock::now() + std::chrono::seconds(20);
  const auto fail = [] { throw std::runtime_error("lost"); };
  EXPECT_THROW(worker->next_line(limit, fail), std::runtime_error);
  worker->send("last");
  expect_lines(*worker, {"read <last>"});
}

TEST_F(SuccessionTest, AnotherWorkerLeavesThePreparedOneToItsTurn) {
  Succession succession(program_);
  succession.expect({"b"});
  static_cast<void>(succession.begin({"a"}));
  succession.settle([] {}, 20);
  static_cast<void>(succession.begin({"c"}));  // as after a crash of worker a
  const auto worker = succession.begin({"b"});
  EXPECT_FALSE(succession.began_early()) << "nobody ends";
  succession.hand_over(*worker);
  expect_lines(*worker, {"read <>", "read <>"});
}

TEST_F(SuccessionTest, APreparedWorkerThatFailsIsDropped) {
  for (const std::string trouble : {"silent", "broken", "babbling"}) {
    SCOPED_TRACE(trouble);
    Succession succession(program_, 0.2);
    succession.expect({trouble});
    static_cast<void>(succession.begin({"a"}));
    succession.settle([] {}, 20);
    succession.expect({});
    const auto worker = succession.begin({trouble});
    EXPECT_EQ(starts_of(trouble, 2), 2u);
  }
}

TEST_F(SuccessionTest, APreparedWorkerGetsNoMoreThanTheTimeOfTheRun) {
  Succession succession(program_);
  succession.expect({"silent"});
  static_cast<void>(succession.begin({"a"}));
  const auto begin = WorkerProcess::Clock::now();
  succession.settle([] {}, 0.1);
  EXPECT_LT(WorkerProcess::Clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace allocbench::front
