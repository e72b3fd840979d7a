// These tests check contents with few callers: which callers take part, which mistakes are detected, and the verdict.
#include "workloads/support/callers/few_contents.hpp"

#include <gtest/gtest.h>

#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "tests/workloads/allocator_rig.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/limited_requests.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;

RequestProfile requests(std::uint32_t callers, std::uint64_t bytes = 48) {
  return {Geometry::of_callers(callers, 128, 32), RequestSizes::fixed(bytes)};
}

FewContents check(test::AllocatorRig& rig, std::uint32_t callers) {
  return check_few_contents(rig.stream(), requests(callers), rig.rules, rig.allocator);
}

template <Fault fault>
FewContents check_with(std::uint32_t callers) {
  test::AllocatorRig rig(test::tested_type<SlotMalloc<fault>, CallKernels>(), 1 << 16);
  return check(rig, callers);
}

// The pool has 128 slots, so the second pass needs those that the first one took.
TEST(FewContents, PassACorrectAllocatorAndLeaveNothing) {
  test::AllocatorRig rig(test::tested_type<SlotMalloc<Fault::none>, CallKernels>(), 128 * 64);
  for (int pass = 0; pass < 2; ++pass) {
    const FewContents found = check(rig, 100);
    EXPECT_TRUE(found.pointers.ok()) << found.pointers.problem();
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.served, 100u);
  }
}

TEST(FewContents, ReleaseWhatADesignFreesInBulk) {
  test::AllocatorRig rig(test::tested_type<FdgMallocReworkedOnKma, CallKernels>(), 8 << 20);
  for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(check(rig, 1024).served, 1024u);
}

TEST(FewContents, SeeABlockThatTheAllocatorWroteTo) {
  const FewContents found = check_with<Fault::scribble>(100);
  EXPECT_TRUE(found.pointers.ok()) << found.pointers.problem();
  EXPECT_EQ(found.problem.find("wrong contents: "), 0u) << found.problem;
}

TEST(FewContents, SeeWrongPointers) {
  EXPECT_FALSE(check_with<Fault::overlap>(100).pointers.ok());
  EXPECT_FALSE(check_with<Fault::misaligned>(100).pointers.ok());
}

TEST(FewContents, CountCallersThatGotABlock) {
  const FewContents found = check_with<Fault::null_every_third>(99);
  EXPECT_TRUE(found.pointers.ok()) << found.pointers.problem();
  EXPECT_EQ(found.served, 66u);
}

TEST(FewContents, SayHowManyCallersWereChecked) {
  EXPECT_EQ(checked_callers(1024, 1000000), "checked: 1,024 of 1,000,000 callers");
  EXPECT_EQ(checked_callers(999, 1000), "checked: 999 of 1,000 callers");
  EXPECT_EQ(checked_callers(1000, 1000), "checked");
}

TEST(LimitedRequests, AreThoseOfSlowDesigns) {
  const auto callers = [](std::uint32_t all, std::uint64_t bytes) {
    return for_slow_designs(requests(all, bytes)).geometry.callers;
  };
  EXPECT_EQ(callers(1000000, 16), 1024u);
  EXPECT_EQ(callers(1000, 16), 1000u);
  EXPECT_EQ(callers(1000000, 8192), 512u) << "4 MiB";
  EXPECT_EQ(callers(1000, 1 << 20), 32u) << "a warp may ask for more";
}

}  // namespace
}  // namespace allocbench
