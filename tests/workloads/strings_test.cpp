// These tests run strings under many schedules, check every text byte by byte, and plant faults that only the texts
// show.
#include "workloads/strings/strings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/strings/kernels.hpp"
#include "workloads/strings/text_check.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;
template <class A>
using Rig = test::WorkloadRig<Strings, A, text::StringsKernels, CallKernels>;

Strings::Parameters small(std::uint32_t rows, std::uint32_t rounds) {
  Strings::Parameters parameters;
  parameters.rows = rows;
  parameters.threads_per_block = 64;
  parameters.rounds = rounds;
  return parameters;
}

TEST(StringLengths, ChangeInTheirShareOfTheRows) {
  const text::Lengths drawn(1000 * 5, 9);
  const text::Lengths lengths = text::draw_lengths(1000, 4, 0.25, drawn, 3);
  ASSERT_EQ(lengths.size(), drawn.size());
  for (std::uint32_t round = 0; round <= 4; ++round) {
    const auto begin = lengths.begin() + round * 1000;
    const auto kept = std::count(begin, begin + 1000, 0u);
    EXPECT_NEAR(static_cast<double>(kept), round == 0 ? 0 : 750, round == 0 ? 0 : 70) << round;
  }
  EXPECT_EQ(text::final_lengths({5, 6, 7, 0, 8, 0, 9, 0, 0}, 3), (text::Lengths{9, 8, 7}));
}

TEST(Strings, AreExactUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(12); ++seed) {
    Rig<KmaReworked> rig(small(150, 3), 1 << 20, {.superblock_bytes = 4096}, seed);
    ASSERT_EQ(rig.sample(), "") << "seed " << seed;
    ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
  }
}

TEST(Strings, CountTheirRequests) {
  Rig<AtomicMalloc> rig(small(200, 2), 1 << 20);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.operations("build"), 200u);
  EXPECT_EQ(rig.operations("build") + rig.operations("replace") / 2, rig.counter("mallocs"));
  EXPECT_EQ(rig.operations("free"), 200u);
  EXPECT_GT(rig.counter("requested_bytes"), 8 * rig.counter("mallocs"));
}

Strings::Parameters in_slots(std::uint32_t rounds) {
  Strings::Parameters parameters = small(60, rounds);
  parameters.max_bytes = 64;
  return parameters;
}

TEST(Strings, NeedMemoryForEveryRowAndThoseThatChange) {
  Rig<SlotMalloc<Fault::none>> rig(in_slots(5), 64 * 120);
  for (int sample = 0; sample < 3; ++sample) EXPECT_EQ(rig.sample(), "") << sample;
}

TEST(Strings, EndCleanlyWhereMemoryRunsOut) {
  Rig<SlotMalloc<Fault::none>> rig(in_slots(5), 64 * 60);
  const std::string problem = rig.sample();
  EXPECT_NE(problem.find(" nulls"), std::string::npos) << problem;
  Rig<SlotMalloc<Fault::none>> none(in_slots(5), 64 * 40);
  EXPECT_EQ(none.sample(), "20 nulls");
  EXPECT_EQ(none.sample(), "20 nulls") << "the next sample starts from an empty heap again";
}

// Every pointer is right, but the texts are wrong.
TEST(Strings, SeeATextThatTheAllocatorWroteTo) {
  Rig<SlotMalloc<Fault::scribble>> rig(in_slots(5), 64 * 200);
  EXPECT_EQ(rig.sample().find("wrong strings"), 0u) << rig.sample();
}

TEST(Strings, SeeABlockThatWasHandedOutTwice) {
  Rig<SlotMalloc<Fault::double_hand_out>> rig(in_slots(0), 64 * 200);
  EXPECT_NE(rig.sample().find("overlapping"), std::string::npos);
}

TEST(Strings, SayWhyAnAllocatorCannotRunThem) {
  EXPECT_NE((test::why_unsupported<Strings, FdgMallocReworkedOnKma>(small(10, 1), 8 << 20)), "");
  EXPECT_NE((test::why_unsupported<Strings, SlotMalloc<Fault::none>>(small(10, 1))), "");
  Strings::Parameters reversed = small(10, 1);
  reversed.min_bytes = 600;
  EXPECT_THROW((test::why_unsupported<Strings, AtomicMalloc>(reversed)), std::invalid_argument);
}

}  // namespace
}  // namespace allocbench
