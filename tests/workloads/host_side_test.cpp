// The workloads with a part of the host: prefix_sum and host_latency.
#include <gtest/gtest.h>

#include "tests/workloads/sampling.hpp"
#include "workloads/host_latency.hpp"
#include "workloads/prefix_sum.hpp"

namespace allocbench {
namespace {

using Slots = test::SlotMalloc<test::Fault::none>;

TEST(PrefixSum, PiecesFollowOneAnother) {
  test::CpuDevice cpu;
  Arena arena(cpu.stream, 64 << 10);
  const Slots allocator = Slots::create(arena, {});
  PrefixSum::Parameters parameters;
  parameters.threads = 300;
  parameters.sizes = "uniform";
  parameters.min_bytes = 1;
  parameters.max_bytes = 64;
  PrefixSum::Run<Slots> run(parameters, {64 << 10, {}, 5}, cpu.stream);
  PhaseTimer timer(cpu.stream);
  run.prepare();
  run.sample(allocator, timer);
  const RequestSizes sizes = parameters.request_sizes(300, 5);
  const std::vector<std::uint64_t> offsets = run.offsets();
  std::uint64_t expected = 0;
  for (std::uint32_t caller = 0; caller < 300; ++caller) {
    ASSERT_EQ(offsets[caller], expected) << caller;
    expected += (sizes[caller] + 15) / 16 * 16;
  }
  ASSERT_EQ(timer.phases().size(), 2u);
  EXPECT_EQ(timer.phases()[1].name, "prefix_sum");
  EXPECT_EQ(timer.phases()[1].operations, 300u);
}

TEST(PrefixSum, PointersOfTheMallocPhaseAreChecked) {
  PrefixSum::Parameters parameters;
  parameters.threads = 100;
  EXPECT_EQ((test::sampled<PrefixSum, Slots>(parameters).problem), "");
  const auto broken = test::sampled<PrefixSum, test::SlotMalloc<test::Fault::double_hand_out>>(parameters);
  EXPECT_NE(broken.problem.find("overlapping"), std::string::npos) << broken.problem;
}

TEST(HostLatency, OneThreadMakesAllCalls) {
  HostLatency::Parameters parameters;
  parameters.request_bytes = 64;
  parameters.allocations = 50;
  const test::Sampled result = test::sampled<HostLatency, Slots>(parameters);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.blocks, 50u);
  for (const char* phase : {"host_alloc", "host_free", "alloc", "free"}) EXPECT_EQ(result.operations(phase), 50u);
}

}  // namespace
}  // namespace allocbench
