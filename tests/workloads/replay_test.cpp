// These tests check the launches that replay makes from a trace, and its calls with planted allocators.
#include "workloads/replay/replay.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "traces/trace_file.hpp"
#include "workloads/replay/kernels.hpp"
#include "workloads/replay/replay_plan.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

namespace fs = std::filesystem;
using replay::Launch;
using replay::make_plan;
using replay::Plan;
using replay::Step;
using test::Fault;
using traces::Operation;
using traces::Trace;

traces::Call malloc_of(std::uint32_t thread, std::uint64_t bytes, std::uint32_t number) {
  return {.bytes = bytes, .thread = thread, .block = number};
}
traces::Call free_of(std::uint32_t thread, std::uint32_t block) {
  return {.thread = thread, .block = block, .operation = Operation::free};
}

TEST(ReplayPlan, KeepsKernelsWithoutEdges) {
  Trace trace{.kernels = {{"one", 1, 4, 3, 0}, {"empty", 2, 2, 0, 0}, {"two", 1, 4, 1, 0}}};
  trace.calls = {malloc_of(1, 8, 0), malloc_of(3, 16, 1), free_of(3, 1), free_of(0, 0)};
  const Plan plan = make_plan(trace);
  EXPECT_EQ(plan.launches, (std::vector<Launch>{{0, 1, 4, 0}, {1, 2, 2, 5}, {2, 1, 4, 10}}));
  EXPECT_EQ(plan.begin, (std::vector<std::uint32_t>{0, 0, 1, 1, 3, /**/ 3, 3, 3, 3, 3, /**/ 3, 4, 4, 4, 4}));
  EXPECT_EQ(plan.steps, (std::vector<Step>{{8, 0, 0}, {16, 1, 0}, {0, 1, 1}, {0, 0, 1}}));
  EXPECT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{8, 16}));
  EXPECT_TRUE(plan.left.empty());
  EXPECT_EQ(plan.mallocs, 2u);
  EXPECT_EQ(plan.frees, 2u);
}

TEST(ReplayPlan, SplitsAKernelWhereAFreeWaitsForAnotherThread) {
  Trace trace{.kernels = {{"one", 1, 2, 4, 0}}};
  trace.calls = {free_of(0, 2), malloc_of(0, 8, 1), malloc_of(1, 16, 2), free_of(1, 1)};
  const Plan plan = make_plan(trace);
  EXPECT_EQ(plan.launches, (std::vector<Launch>{{0, 1, 2, 0}, {0, 1, 2, 3}, {0, 1, 2, 6}}));
  EXPECT_EQ(plan.begin, (std::vector<std::uint32_t>{0, 0, 1, /**/ 1, 3, 3, /**/ 3, 3, 4}))
      << "thread 1 makes a block, thread 0 frees it and makes one, thread 1 frees that";
}

TEST(ReplayPlan, LeavesRefusedMallocsOutAndKeepsFreesOfNull) {
  Trace trace{.kernels = {{"one", 1, 2, 3, 0}}};
  trace.calls = {malloc_of(0, 8, traces::no_block), malloc_of(1, 16, 1), free_of(1, traces::no_block)};
  const Plan plan = make_plan(trace);
  EXPECT_EQ(plan.steps, (std::vector<Step>{{16, 0, 0}, {0, replay::no_block, 1}}));
  EXPECT_EQ(plan.refused, 1u);
  EXPECT_EQ(plan.left, (std::vector<std::uint32_t>{0}));
}

TEST(ReplayPlan, RefusesACircleAndNamesIt) {
  Trace trace{.kernels = {{"one", 1, 2, 4, 0}}};
  trace.calls = {free_of(0, 3), malloc_of(0, 8, 1), free_of(1, 1), malloc_of(1, 16, 3)};
  try {
    make_plan(trace);
    FAIL();
  } catch (const traces::TraceError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel one: thread 0 frees a block of thread 1 of the same kernel, and the two wait for each other "
                 "(call 0 frees block 3). No order of launches can replay that.");
  }
}

// Each of 64 threads takes two blocks. In the same kernel every thread frees the first block of its neighbour. A second
// kernel frees the second blocks of the even threads.
Trace neighbours() {
  Trace trace{.kernels = {{"build", 2, 32, 192, 0}, {"free", 1, 64, 32, 0}}};
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    trace.calls.push_back(malloc_of(thread, 16 + thread % 32, 3 * thread));
    trace.calls.push_back(malloc_of(thread, 32, 3 * thread + 1));
    trace.calls.push_back(free_of(thread, 3 * ((thread + 1) % 64)));
  }
  for (std::uint32_t thread = 0; thread < 64; thread += 2) trace.calls.push_back(free_of(thread, 3 * thread + 1));
  return trace;
}

class ReplayOf : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "allocbench-replay-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    traces::write_trace(neighbours(), folder_ / "trace");
  }
  void TearDown() override { fs::remove_all(folder_); }
  Replay::Parameters parameters() const { return {.trace = (folder_ / "trace").string()}; }

  fs::path folder_;
};

template <Fault fault>
using Rig = test::WorkloadRig<Replay, test::SlotMalloc<fault>, replay::ReplayKernels, CallKernels>;

TEST_F(ReplayOf, NeighboursMakesEveryCallAndLeavesNothingAllocated) {
  Rig<Fault::none> rig(parameters(), 64 * 160);
  for (int sample = 0; sample < 3; ++sample) {
    EXPECT_EQ(rig.sample(), "") << sample;
    EXPECT_EQ(rig.operations("total"), 128u + 96u);
    EXPECT_EQ(rig.counter("mallocs"), 128u);
    EXPECT_EQ(rig.counter("frees"), 96u);
    EXPECT_EQ(rig.counter("launches"), 3u);
    EXPECT_EQ(rig.counter("requested_bytes"), 64u * 16 + 2 * 496 + 64 * 32);
  }
  EXPECT_EQ(rig.observed_sample(), "");
}

TEST_F(ReplayOf, NeighboursSkipsFreesOfRefusedBlocks) {
  Rig<Fault::none> rig(parameters(), 64 * 100);
  EXPECT_EQ(rig.sample(), "28 nulls");
  EXPECT_LT(rig.counter("frees"), 96u);
}

TEST_F(ReplayOf, NeighboursFindsAMisalignedBlock) {
  Rig<Fault::misaligned> rig(parameters(), 64 * 160);
  EXPECT_NE(rig.sample().find("misaligned"), std::string::npos);
}

TEST_F(ReplayOf, ATraceThatIsNotThereIsRefused) {
  try {
    Rig<Fault::none> rig({.trace = "no_such_trace"}, 4096);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("no file traces/no_such_trace/trace.json in "), std::string::npos);
  }
}

}  // namespace
}  // namespace allocbench
