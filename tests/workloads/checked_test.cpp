// Checked<A> finds what is planted and blames nobody else.
#include <gtest/gtest.h>

#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_cycle_dealloc/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/common/call_kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;

// What the content check says after one pass of alloc_free with blocks of `request_bytes`.
template <Fault fault>
std::string problem_with(std::uint64_t request_bytes, std::uint32_t alignment = 16) {
  AllocFree::Parameters parameters;
  parameters.threads = 100;
  parameters.request_bytes = request_bytes;
  test::WorkloadRig<AllocFree, SlotMalloc<fault>, CallKernels> rig(parameters, 64 * 1024);
  rig.rules.alignment = alignment;
  return rig.observed_sample();
}

TEST(Checked, AcceptsACorrectAllocatorAtEverySize) {
  for (const std::uint64_t bytes : {1, 3, 4, 5, 15, 16, 33, 63, 64}) {
    EXPECT_EQ(problem_with<Fault::none>(bytes), "") << bytes << " bytes";
  }
}

TEST(Checked, AcceptsRecyclingWithinOneKernel) {
  AllocCycleDealloc::Parameters parameters;
  parameters.blocks = 16;
  parameters.lanes_per_warp = 7;
  parameters.iterations = 2;  // 1,792 mallocs in 1,024 slots
  test::WorkloadRig<AllocCycleDealloc, SlotMalloc<Fault::none>, AllocCycleDeallocKernels> rig(parameters, 64 * 1024);
  EXPECT_EQ(rig.observed_sample(), "");
}

// With 32-byte blocks every 16 bytes, the upper half of a block is its neighbour's lower half.
TEST(Checked, FindsOverlap) {
  const std::string problem = problem_with<Fault::overlap>(32);
  EXPECT_NE(problem.find("lost a word of a live block"), std::string::npos) << problem;
  EXPECT_NE(problem.find("pool+0x"), std::string::npos) << problem;
}

TEST(Checked, FindsDoubleHandOutOfFourBytes) {
  const std::string problem = problem_with<Fault::double_hand_out>(4);
  EXPECT_NE(problem.find("50 x handed out a block that is still held"), std::string::npos) << problem;
}

TEST(Checked, FindsMisalignment) {
  const std::string problem = problem_with<Fault::misaligned>(16);
  EXPECT_NE(problem.find("1 x returned a misaligned block"), std::string::npos) << problem;
  EXPECT_EQ(problem_with<Fault::misaligned>(16, 4), "") << "4 bytes are all that is asked for";
}

TEST(Checked, LeavesABlockOutsideOfThePoolAlone) {
  const std::string problem = problem_with<Fault::out_of_bounds>(16);
  EXPECT_NE(problem.find("1 x returned a block outside of the pool"), std::string::npos) << problem;
}

TEST(ContentVerdict, RefusesALedgerThatOverflowed) {
  ContentReport report{};
  report.ledger_full = 1;
  EXPECT_THROW(content_problem(report, 0), std::logic_error);
}

}  // namespace
}  // namespace allocbench
