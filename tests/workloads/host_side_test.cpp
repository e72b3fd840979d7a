// These tests check the workloads that do a part of their work on the host: prefix_sum and host_latency.
#include <gtest/gtest.h>

#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/host_latency/host_latency.hpp"
#include "workloads/prefix_sum/counted_pieces.hpp"
#include "workloads/prefix_sum/kernels.hpp"
#include "workloads/prefix_sum/prefix_sum.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/kernels/several_kernels.hpp"
#include "workloads/support/requests/device_sizes.hpp"

namespace allocbench {
namespace {

using Slots = test::SlotMalloc<test::Fault::none>;
template <class A>
using PrefixSumRig = test::WorkloadRig<PrefixSum, A, CallKernels, PrefixSumKernels>;

TEST(CountedPieces, FollowOneAnother) {
  test::CpuDevice cpu;
  const DeviceSizes sizes(RequestSizes::uniform(1, 64, 300, 5), cpu.stream);
  CountedPieces pieces(cpu.stream, Geometry::of_callers(300, 256, 32));
  pieces.clear();
  simt::Buffer<void*> addresses(300);
  pieces.make_addresses(sizes.any(), PiecesFrom::device, addresses.data());
  const std::vector<std::uint64_t> offsets = pieces.offsets();
  const std::vector<void*> pointers = addresses.to_host(cpu.stream);
  std::uint64_t expected = 0;
  for (std::uint32_t caller = 0; caller < 300; ++caller) {
    ASSERT_EQ(offsets[caller], expected) << caller;
    ASSERT_EQ(static_cast<std::byte*>(pointers[caller]) - static_cast<std::byte*>(pointers[0]), expected) << caller;
    expected += (sizes.host()[caller] + 15) / 16 * 16;
  }
  EXPECT_EQ(pieces.problem(sizes.host()), "");
  EXPECT_EQ(pieces.problem(RequestSizes::fixed(64)).find("the piece of caller 1 begins at "), 0u);
}

TEST(PrefixSum, TimesBothWays) {
  PrefixSum::Parameters parameters;
  parameters.threads = 300;
  parameters.sizes = "uniform";
  parameters.min_bytes = 1;
  parameters.max_bytes = 64;
  PrefixSumRig<Slots> rig(parameters);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.observed_sample(), "") << "writes into blocks that the adaptor has filled";
  ASSERT_EQ(rig.timer->phases().size(), 3u);
  EXPECT_EQ(rig.operations("malloc"), 300u);
  EXPECT_EQ(rig.operations("prefix_sum"), 300u);
  EXPECT_EQ(rig.operations("prefix_sum_pool"), 300u);
}

TEST(PrefixSum, PointersOfTheMallocPhaseAreChecked) {
  PrefixSum::Parameters parameters;
  parameters.threads = 100;
  EXPECT_EQ(PrefixSumRig<Slots>(parameters).sample(), "");
  const std::string problem = PrefixSumRig<test::SlotMalloc<test::Fault::double_hand_out>>(parameters).sample();
  EXPECT_NE(problem.find("overlapping"), std::string::npos) << problem;
}

TEST(HostLatency, OneThreadMakesAllCalls) {
  HostLatency::Parameters parameters;
  parameters.request_bytes = 64;
  parameters.allocations = 50;
  test::WorkloadRig<HostLatency, Slots, SeveralKernels> rig(parameters);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 50u);
  for (const char* phase : {"host_alloc", "host_free", "stream_alloc", "stream_free", "alloc", "free"})
    EXPECT_EQ(rig.operations(phase), 50u);
}

}  // namespace
}  // namespace allocbench
