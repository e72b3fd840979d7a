// These tests check that the calls of Delayed<A> wait, and that it has A's parameters and two more.
#include "allocators/delayed/delayed.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/workload_rig.hpp"
#include "workloads/get_page/kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

// Returns the steps of one malloc or free. The clock of the executor counts steps.
std::uint64_t steps_of(bool frees, std::uint32_t malloc_delay, std::uint32_t free_delay) {
  DelayedAtomicMalloc::Parameters parameters;
  parameters.malloc_delay = malloc_delay;
  parameters.free_delay = free_delay;
  const AllocatorType& type = test::tested_type<DelayedAtomicMalloc, GetPageKernels>();
  test::AllocatorRig rig(type, 1 << 12, test::parameter_values(parameters));
  const Geometry one = Geometry::of_callers(1, 32, 1);
  simt::Buffer<void*> blocks(1);
  simt::Buffer<std::uint32_t> cycles(1);
  rig.allocator.launch<GetPageKernels>(rig.stream(), one.shape(), AllocCyclesKernel{}, one, FixedSize{16},
                                       blocks.data(), cycles.data());
  if (frees) {
    rig.allocator.launch<GetPageKernels>(rig.stream(), one.shape(), FreeCyclesKernel{}, one, blocks.data(),
                                         cycles.data());
  }
  EXPECT_NE(blocks.to_host(rig.stream()).front(), nullptr);
  return cycles.to_host(rig.stream()).front();
}

TEST(Delayed, WaitsSoManyCyclesInEveryCall) {
  EXPECT_LT(steps_of(false, 0, 500), 100u);
  EXPECT_GE(steps_of(false, 500, 0), 500u);
  EXPECT_LT(steps_of(true, 500, 0), 100u);
  EXPECT_GE(steps_of(true, 0, 500), 500u);
}

TEST(Delayed, HasTheParametersOfItsAllocatorAndItsOwn) {
  const std::vector<ParameterInfo> inner = describe_parameters<Comb::Parameters>();
  const std::vector<ParameterInfo> outer = describe_parameters<DelayedComb::Parameters>();
  ASSERT_EQ(outer.size(), inner.size() + 2);
  for (std::size_t i = 0; i < inner.size(); ++i) EXPECT_EQ(outer[i].name, inner[i].name);
  EXPECT_EQ(DelayedComb::traits.based_on, Comb::traits.name);
  EXPECT_EQ(DelayedComb::traits.frees, Comb::traits.frees);
}

}  // namespace
}  // namespace allocbench
