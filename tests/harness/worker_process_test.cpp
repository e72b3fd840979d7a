// These tests check what a broken worker is told to have done. A shell script replaces the worker.
#include "harness/front/workers/worker_process.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// Runs a worker with these commands, in which $events is the pipe, and returns its first answer.
WorkerReply answer_of(const std::string& commands) {
  const fs::path path = fs::path(::testing::TempDir()) / ("worker-" + std::to_string(getpid()));
  std::ofstream(path) << "#!/bin/bash\nevents=$3\n" << commands << "\n";
  chmod(path.c_str(), 0700);
  WorkerReply reply;
  {
    WorkerProcess process({"cpu", path.string()}, {});
    reply = process.next_line(WorkerProcess::Clock::now() + std::chrono::seconds(60), [] {});
  }
  fs::remove(path);
  return reply;
}

TEST(WorkerProcess, ALineThatIsTooLongIsNotAClosedPipe) {
  const WorkerReply reply = answer_of("head -c 20000000 /dev/zero | tr '\\0' x >&$events; sleep 600");
  EXPECT_EQ(reply.kind, WorkerReply::Kind::died);
  EXPECT_EQ(reply.death, "wrote a line of more than 16 MiB");
}

TEST(WorkerProcess, AClosedPipe) {
  const WorkerReply reply = answer_of("eval \"exec $events>&-\"; sleep 600");
  EXPECT_EQ(reply.kind, WorkerReply::Kind::died);
  EXPECT_EQ(reply.death, "closed its event pipe but kept running");
}

TEST(WorkerProcess, AnExitCode) {
  const WorkerReply reply = answer_of("exit 7");
  EXPECT_EQ(reply.kind, WorkerReply::Kind::died);
  EXPECT_EQ(reply.death, "ended with exit code 7");
}

}  // namespace
}  // namespace allocbench::front
