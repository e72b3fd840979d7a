// These tests check aligned requests: every block has the requested alignment, contents and frees are right, and the
// cost of the alignment is counted.
#include "allocators/support/adaptors/aligned.hpp"

#include <gtest/gtest.h>

#include "allocators/comb/comb.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using AlignedRig = test::WorkloadRig<AllocFree, A, CallKernels>;

AllocFree::Parameters asking(std::uint64_t bytes, std::uint32_t alignment) {
  AllocFree::Parameters parameters;
  parameters.threads = 200;
  parameters.threads_per_block = 64;
  parameters.request_bytes = bytes;
  parameters.alignment = alignment;
  return parameters;
}

template <class A>
class AlignedRequests : public testing::Test {};
using Designs = testing::Types<Comb, KmaReworked>;
TYPED_TEST_SUITE(AlignedRequests, Designs);

TYPED_TEST(AlignedRequests, AreServedCheckedAndCounted) {
  for (const std::uint32_t alignment : {1u, 16u, 32u, 128u, 512u}) {
    SCOPED_TRACE(alignment);
    AlignedRig<TypeParam> rig(asking(48, alignment), 4 << 20);
    EXPECT_EQ(rig.sample(), "");
    EXPECT_EQ(rig.observed_sample(), "");
    if (alignment == 1) continue;
    const std::size_t surplus = surplus_of_alignment(TypeParam::traits.alignment, alignment);
    EXPECT_EQ(rig.counter("alignment_bytes"), 200 * surplus);
    EXPECT_EQ(rig.pointers.rules().alignment, std::max(alignment, TypeParam::traits.alignment));
  }
}

TEST(AlignedRequestsOfManySizes, AreServedAndChecked) {
  AllocFree::Parameters parameters = asking(0, 64);
  parameters.sizes = "uniform";
  parameters.min_bytes = 1;
  parameters.max_bytes = 300;
  AlignedRig<Comb> rig(parameters, 4 << 20);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.observed_sample(), "");
  EXPECT_EQ(rig.counter("alignment_bytes"), 200u * 64);
}

TEST(AlignedRequestsThatTheDesignAligns, TakeNoMore) {
  AlignedRig<Comb> rig(asking(128, 128), 4 << 20);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.observed_sample(), "");
  EXPECT_EQ(rig.counter("alignment_bytes"), 0u);
  AlignedRig<Comb> odd(asking(96, 128), 4 << 20);  // slots for 96 B are aligned to multiples of 32 B
  EXPECT_EQ(odd.sample(), "");
  EXPECT_EQ(odd.counter("alignment_bytes"), 200u * 128);
}

TEST(AlignedRequestsBeyondThePool, AreRefused) {
  AlignedRig<Comb> rig(asking(16, 16), 1 << 20);
  EXPECT_EQ(AllocFree::unsupported(asking(16, 1 << 21), rig.setting),
            "a pool of 1 MiB has no block at a multiple of 2097152 B");
  const std::string why = AllocFree::unsupported(asking(16, 1 << 20), rig.setting);
  EXPECT_NE(why.find("serves requests up to"), std::string::npos) << why;
  EXPECT_EQ(AllocFree::unsupported(asking(16, 128), rig.setting), "");
}

TEST(AlignedRequestsAreJudged, ByWhatWasAskedFor) {
  PointerRules rules;
  rules.pool_begin = 1 << 20;
  rules.pool_end = 2 << 20;
  PointerCheck check(rules);
  check.require_alignment(128);
  const RecordedBlock blocks[] = {{(1 << 20) + 128, 16, 0}, {(1 << 20) + 192, 16, 1}};
  check.check(blocks, PointerCheck::Live::together);
  EXPECT_NE(check.problem().find("1 misaligned"), std::string::npos) << check.problem();
}

}  // namespace
}  // namespace allocbench
