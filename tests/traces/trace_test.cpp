// These tests check which traces are valid, and how traces are written and read.
#include "traces/trace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "traces/trace_file.hpp"

namespace allocbench::traces {
namespace {

namespace fs = std::filesystem;

constexpr auto malloc = Operation::malloc;
constexpr auto free = Operation::free;

// The first kernel has three mallocs and a free. The second one has a malloc and two frees, one of them of null.
Trace two_kernels() {
  Trace trace{.allocator = "comb", .pool_bytes = 1 << 20, .has_clocks = true};
  trace.kernels = {{"build", 2, 32, 4, 0}, {"tear down", 1, 64, 3, 5}};
  trace.calls = {{.bytes = 16, .thread = 0, .block = 0, .clock = 1},
                 {.bytes = 5000000000, .thread = 0, .block = no_block, .clock = 3, .alignment = 8},
                 {.bytes = 40, .thread = 40, .block = 2},
                 {.thread = 40, .block = 0, .clock = 9, .operation = free},
                 {.bytes = 8, .thread = 1, .block = 4},
                 {.thread = 1, .block = no_block, .operation = free},
                 {.thread = 63, .block = 2, .operation = free}};
  return trace;
}

std::string problem(const Trace& trace) {
  try {
    require_possible(trace, "here");
    return {};
  } catch (const TraceError& error) {
    return error.what();
  }
}

TEST(Trace, OfAProgramIsPossible) { EXPECT_EQ(problem(two_kernels()), ""); }

TEST(Trace, LiveBytesAreThoseAtTheEndOfEachKernel) {
  EXPECT_EQ(live_bytes(two_kernels()), (std::vector<std::uint64_t>{40, 8}));
}

TEST(Trace, ThePeakIsThatOfTheWorstOrder) {
  // The blocks of 16 and 40 B may be in use together. The blocks of 8 and 40 B may be, too.
  EXPECT_EQ(peak_bytes(two_kernels()), 56u);
  Trace own{.kernels = {{"k", 1, 32, 6, 0}}};
  own.calls = {{.bytes = 100, .block = 0}, {.block = 0, .operation = free}, {.bytes = 30, .block = 2},
               {.bytes = 50, .block = 3},  {.block = 2, .operation = free}, {.bytes = 7, .thread = 1, .block = 5}};
  EXPECT_EQ(problem(own), "");
  EXPECT_EQ(peak_bytes(own), 107u) << "a thread that frees before it asks again holds 100 at most";
}

TEST(Trace, WhatNoProgramDoesIsNamed) {
  const auto with = [](auto change) {
    Trace trace = two_kernels();
    change(trace);
    return problem(trace);
  };
  EXPECT_EQ(with([](Trace& t) { t.calls[6].block = 0; }),
            "here: call 6 (kernel tear down): frees block 0, which call 3 freed before");
  EXPECT_EQ(with([](Trace& t) { t.calls[3].block = 4; }),
            "here: call 3 (kernel build): frees block 4 before its malloc");
  EXPECT_EQ(with([](Trace& t) { std::swap(t.calls[2], t.calls[3]), t.calls[2].block = 3, t.calls[3].block = 3; }),
            "here: call 2 (kernel build): frees block 3 before its malloc");
  EXPECT_EQ(with([](Trace& t) { t.calls[6].block = 1; }),
            "here: call 6 (kernel tear down): frees block 1, but that call made none");
  EXPECT_EQ(with([](Trace& t) { t.calls[2].block = 0; }),
            "here: call 2 (kernel build): a malloc has its own number as block, or none; found 0");
  EXPECT_EQ(with([](Trace& t) { t.calls[3].thread = 64; }),
            "here: call 3 (kernel build): thread 64; its grid has 64 threads");
  EXPECT_EQ(with([](Trace& t) { t.calls[0].thread = 1; }), "here: call 1 (kernel build): calls are sorted by thread");
  EXPECT_EQ(with([](Trace& t) { t.calls[0].operation = static_cast<Operation>(2); }),
            "here: call 0 (kernel build): the operation is 0, a malloc, or 1, a free");
  EXPECT_EQ(with([](Trace& t) { t.kernels[1].calls = 2; }), "here: the kernels have 6 calls, the arrays 7");
  EXPECT_EQ(with([](Trace& t) { t.calls[0].alignment = 64; }), "here: call 0 (kernel build): alignment 2^64");
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "allocbench-traces-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    trace_ = name;
    write_trace(two_kernels(), trace_);
  }
  void TearDown() override { fs::remove_all(trace_); }

  std::string problem() const {
    try {
      read_trace(trace_);
      return {};
    } catch (const TraceError& error) {
      std::string text = error.what();
      const std::string path = trace_.string();
      for (auto at = text.find(path); at != std::string::npos; at = text.find(path)) text.replace(at, path.size(), "T");
      return text;
    }
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::ifstream file(trace_ / name);
    std::string text(std::istreambuf_iterator<char>(file), {});
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(trace_ / name) << text;
  }

  fs::path trace_;
};

TEST_F(Files, GiveBackWhatWasWritten) { EXPECT_EQ(read_trace(trace_), two_kernels()); }

TEST_F(Files, MayBePacked) {
  for (const char* name : {"bytes", "block", "thread"}) {
    ASSERT_EQ(std::system(("gzip -9 " + (trace_ / name).string() + ".npy").c_str()), 0);
  }
  EXPECT_EQ(read_trace(trace_), two_kernels());
}

TEST_F(Files, OfATraceAreNotOverwritten) {
  try {
    write_trace(two_kernels(), trace_);
    FAIL();
  } catch (const TraceError& error) {
    EXPECT_EQ(error.what(), trace_.string() + " already contains a trace: choose another folder");
  }
}

TEST_F(Files, OfAnotherVersionAreRefused) {
  replace("trace.json", "\"version\": 1", "\"version\": 2");
  EXPECT_EQ(problem(),
            "T/trace.json: version 2; this program reads version 1. Record the trace again, or use the program that "
            "wrote it.");
}

TEST_F(Files, ThatAreCutAreNamed) {
  fs::resize_file(trace_ / "bytes.npy", fs::file_size(trace_ / "bytes.npy") - 8);
  EXPECT_EQ(problem(), "T/bytes.npy is damaged: it has 48 bytes for 7 elements");
  fs::resize_file(trace_ / "bytes.npy", 50);
  EXPECT_EQ(problem(), "T/bytes.npy is damaged: it ends in its header");
  fs::resize_file(trace_ / "bytes.npy", 5);
  EXPECT_EQ(problem(), "T/bytes.npy is damaged: it does not begin as a NumPy array of format 1.0 does");
  fs::remove(trace_ / "bytes.npy");
  EXPECT_EQ(problem(), "T/bytes.npy cannot be opened");
}

TEST_F(Files, OfOtherTypesAreNamed) {
  replace("thread.npy", "<u4", "<i4");
  EXPECT_EQ(problem(), "T/thread.npy is damaged: its type is <i4 where <u4 is expected");
}

TEST_F(Files, WithOtherCountsAreNamed) {
  replace("trace.json", "\"calls\": 3", "\"calls\": 4");
  EXPECT_EQ(problem(), "T/bytes.npy has 7 elements; trace.json has 8 calls");
}

TEST_F(Files, WithImpossibleCallsAreRefused) {
  replace("trace.json", "\"threads_per_block\": 32", "\"threads_per_block\": 16");
  EXPECT_EQ(problem(), "T: call 2 (kernel build): thread 40; its grid has 32 threads");
}

TEST(TraceFiles, ThatAreNotThereAreNamed) {
  try {
    read_trace("/nowhere");
    FAIL();
  } catch (const TraceError& error) {
    EXPECT_STREQ(error.what(),
                 "/nowhere/trace.json cannot be opened: a trace is a folder with trace.json and NumPy arrays");
  }
}

}  // namespace
}  // namespace allocbench::traces
