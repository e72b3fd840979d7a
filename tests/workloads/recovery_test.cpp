// These tests check that recovery counts what a full heap serves before and after frees, and detects lost memory.
#include "workloads/recovery/recovery.hpp"

#include <gtest/gtest.h>

#include "allocators/circular_malloc/cfm_malloc_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<Recovery, A, CallKernels>;
using test::Fault;
using test::SlotMalloc;

Recovery::Parameters slots(double freed_share, std::uint32_t growth = 1) {
  Recovery::Parameters parameters;
  parameters.threads = 48;
  parameters.threads_per_block = 64;
  parameters.request_bytes = 64;
  parameters.freed_share = freed_share;
  parameters.growth = growth;
  return parameters;
}

TEST(Recovery, OfAllIsWhole) {
  Rig<SlotMalloc<Fault::none>> rig(slots(1), 200 * 64);
  for (int sample = 0; sample < 3; ++sample) {
    // There are 200 slots and 48 requests per round. So 5 rounds give 40 nulls, twice.
    EXPECT_EQ(sample == 2 ? rig.observed_sample() : rig.sample(), "80 nulls");
    EXPECT_DOUBLE_EQ(rig.value("usable_share"), 1);
    EXPECT_DOUBLE_EQ(rig.value("recovered_share"), 1);
    EXPECT_EQ(rig.operations("fill"), 200u);
    EXPECT_EQ(rig.operations("free"), 200u);
    EXPECT_EQ(rig.operations("again"), 200u);
  }
}

TEST(Recovery, OfAShareIsThatShare) {
  Rig<SlotMalloc<Fault::none>> rig(slots(0.5), 2000 * 64);
  EXPECT_NE(rig.sample(), "");
  EXPECT_EQ(rig.counter("served_bytes"), 2000u * 64);
  EXPECT_DOUBLE_EQ(rig.value("recovered_share"), 1);
  // With 2,000 draws, five standard deviations are 112.
  EXPECT_NEAR(static_cast<double>(rig.operations("free")), 1000, 112);
  EXPECT_EQ(rig.operations("again"), rig.operations("free"));
}

TEST(Recovery, ShowsLostFrees) {
  Rig<SlotMalloc<Fault::leak_every_third>> rig(slots(1), 300 * 64);
  EXPECT_NE(rig.sample(), "");
  EXPECT_NEAR(rig.value("recovered_share"), 2.0 / 3, 0.01);
}

TEST(Recovery, RefusesToTimeAnEmptyHeapThatServesNothing) {
  Rig<SlotMalloc<Fault::null_after_a_free>> rig(slots(1), 200 * 64);
  EXPECT_NE(rig.sample(), "");
  EXPECT_EQ(rig.operations("again"), 0u);
  EXPECT_EQ(rig.pointers.refusal(200 * 64),
            "48 of 48 requests returned null, although 12.5 KiB of a pool of 12.5 KiB was free");
  Rig<SlotMalloc<Fault::none>> few(slots(0.1), 200 * 64);
  EXPECT_NE(few.sample(), "");
  EXPECT_EQ(few.pointers.refusal(200 * 64), "") << "the freed blocks are served again, and no more";
}

TEST(Recovery, FindsBlocksThatAreHandedOutTwice) {
  Rig<SlotMalloc<Fault::double_hand_out>> rig(slots(1), 64 * 64);
  EXPECT_NE(rig.sample().find("overlap"), std::string::npos);
}

// Freed neighbours merge, so some larger requests are served. They get less than 0.6 of the freed bytes.
TEST(Recovery, LargerRequestsNeedNeighbours) {
  Rig<CFMMallocReworked> rig(slots(0.5, 4), 256 << 10);
  static_cast<void>(rig.sample());
  EXPECT_GT(rig.value("recovered_share"), 0);
  EXPECT_LT(rig.value("recovered_share"), 0.6);
}

TEST(Recovery, NeedsFreesOfItsOwnSizes) {
  EXPECT_NE((test::why_unsupported<Recovery, SlotMalloc<Fault::none>>(slots(1, 2))), "");
  EXPECT_EQ((test::why_unsupported<Recovery, SlotMalloc<Fault::none>>(slots(1))), "");
}

}  // namespace
}  // namespace allocbench
