// These tests check the workloads that examine the pool itself: fill and fragmentation.
#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/fill/fill.hpp"
#include "workloads/fragmentation/fragmentation.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;
using Slots = SlotMalloc<Fault::none>;
using FillRig = test::WorkloadRig<Fill, Slots, CallKernels>;
template <class A>
using FragmentationRig = test::WorkloadRig<Fragmentation, A, CallKernels>;

TEST(Fill, TakesItsShareBeforeTheTimedRequests) {
  Fill::Parameters parameters;
  parameters.threads = 100;
  parameters.taken_share = 0.5;
  FillRig rig(parameters, 64 << 10);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 512u + 100u) << "half of 1,024 slots of 64 bytes, then one per thread";
  EXPECT_EQ(rig.operations("alloc"), 100u);
}

TEST(Fill, StartsAgainFromACopyOfThePool) {
  Fill::Parameters parameters;
  parameters.threads = 100;
  parameters.taken_share = 0.5;
  FillRig rig(parameters, 64 << 10);
  EXPECT_EQ(rig.sample(), "");
  for (int time = 0; time < 2; ++time) {
    rig.allocator.reset(rig.stream());
    EXPECT_EQ(rig.sample(), "");
    EXPECT_EQ(rig.pointers.blocks(), 512u + 100u);
  }
  EXPECT_EQ(rig.sample(), "") << "the samples gave back all they took";
}

TEST(Fill, AnOverfullPoolReturnsNull) {
  Fill::Parameters parameters;
  parameters.threads = 100;
  parameters.taken_share = 1;
  FillRig rig(parameters, 64 << 10);
  EXPECT_EQ(rig.sample(), "100 nulls");
  EXPECT_EQ(rig.pointers.spurious_nulls(), std::optional<std::uint64_t>(0));
}

TEST(Fill, ANullBesideFreeSlotsIsSpurious) {
  Fill::Parameters parameters;
  parameters.threads = 100;
  parameters.taken_share = 0;
  test::WorkloadRig<Fill, SlotMalloc<Fault::null_every_third>, CallKernels> rig(parameters, 64 << 10);
  EXPECT_EQ(rig.sample(), "33 nulls");
  EXPECT_EQ(rig.pointers.spurious_nulls(), std::optional<std::uint64_t>(33));
}

TEST(Fill, AnEmptyPoolIsAllowed) {
  Fill::Parameters parameters;
  parameters.threads = 10;
  parameters.taken_share = 0;
  FillRig rig(parameters, 64 << 10);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.pointers.blocks(), 10u);
}

// The pool has slots of 64 bytes, and all of them can be allocated.
TEST(Fragmentation, SlotsWasteWhatTheRequestLeaves) {
  Fragmentation::Parameters parameters;
  parameters.threads = 100;
  parameters.request_bytes = 48;
  FragmentationRig<Slots> rig(parameters, 64 << 10);
  static_cast<void>(rig.sample());
  EXPECT_TRUE(rig.pointers.ok()) << rig.pointers.problem();
  EXPECT_EQ(rig.value("block_bytes"), 64);
  EXPECT_EQ(rig.value("served_bytes"), 1024 * 48);
  EXPECT_DOUBLE_EQ(rig.value("internal_waste"), 0.25);
  EXPECT_DOUBLE_EQ(rig.value("external_waste"), 0);
  EXPECT_EQ(rig.operations("free"), 1024u);
  EXPECT_EQ(rig.pointers.spurious_nulls(), std::optional<std::uint64_t>(0))
      << "blocks count with 64 bytes, not with 48";
}

TEST(Fragmentation, ABumpPointerWastesOnlyItsRounding) {
  Fragmentation::Parameters parameters;
  parameters.threads = 64;
  parameters.request_bytes = 24;
  FragmentationRig<AtomicMalloc> rig(parameters, 32 << 10);
  static_cast<void>(rig.sample());
  EXPECT_EQ(rig.value("block_bytes"), 32);
  EXPECT_DOUBLE_EQ(rig.value("internal_waste"), 0.25);
  EXPECT_DOUBLE_EQ(rig.value("external_waste"), 0);
}

TEST(Fragmentation, CountsWhatNoBlockTakes) {
  Fragmentation::Parameters parameters;
  parameters.threads = 3;  // the third request returns null, so one round ends the sample
  parameters.request_bytes = 64;
  FragmentationRig<SlotMalloc<Fault::null_every_third>> rig(parameters, 64 << 10);
  EXPECT_EQ(rig.sample(), "1 nulls");
  EXPECT_EQ(rig.value("served_bytes"), 128);
  EXPECT_DOUBLE_EQ(rig.value("external_waste"), 1 - 2.0 / 1024);
  EXPECT_EQ(rig.pointers.spurious_nulls(), std::optional<std::uint64_t>(1));
}

}  // namespace
}  // namespace allocbench
