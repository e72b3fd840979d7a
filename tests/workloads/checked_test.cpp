// These tests check that Checked<A> finds planted mistakes and reports nothing else.
#include "allocators/support/adaptors/checked.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_cycle_dealloc/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;
using test::SlotMalloc;

// Returns the message of the content check after one pass of alloc_free with blocks of `request_bytes`.
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

// With blocks of 32 bytes every 16 bytes, the upper half of a block is the lower half of its neighbour.
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

struct Overwritten {
  std::uint32_t bytes;  // size of the block
  std::uint32_t shift;  // offset of the block's address
  std::uint32_t at;     // offset of the byte that another thread changes
};
constexpr std::uint32_t most_bytes = 70;

struct OverwriteKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const Overwritten* cases, std::uint32_t count, unsigned char* memory,
                          LedgerEntry* entries, ContentReport* reports) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    const ContentLedger ledger{.report = reports + i, .entries = entries + i, .capacity = 1};
    unsigned char* const block = memory + i * (most_bytes / 16 + 2) * 16 + cases[i].shift;
    ledger.adopt(thread, block, cases[i].bytes);
    block[cases[i].at] ^= 1;
    ledger.retire(thread, block);
  }
};

TEST(Checked, FindsEveryOverwrittenByte) {
  std::vector<Overwritten> cases;
  for (std::uint32_t bytes = 5; bytes <= most_bytes; ++bytes) {
    for (const std::uint32_t shift : {0, 4, 8, 12}) {
      for (std::uint32_t at = 4; at < bytes; ++at) cases.push_back({bytes, shift, at});
    }
  }
  test::CpuDevice cpu;
  simt::Stream& stream = cpu.stream;
  simt::Buffer<Overwritten> given(cases.size());
  given.from_host(stream, cases);
  simt::Buffer<unsigned char> memory(cases.size() * (most_bytes / 16 + 2) * 16);
  simt::Buffer<LedgerEntry> entries(cases.size());
  simt::Buffer<ContentReport> reports(cases.size());
  reports.fill_bytes(stream, 0);
  const Overwritten* const given_cases = given.data();
  simt::launch(stream, {static_cast<std::uint32_t>(cases.size() / 128 + 1), 128}, OverwriteKernel{}, given_cases,
               static_cast<std::uint32_t>(cases.size()), memory.data(), entries.data(), reports.data());
  const std::vector<ContentReport> found = reports.to_host(stream);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [bytes, shift, at] = cases[i];
    const std::uint64_t offset = at < bytes / 4 * 4 ? at / 4 * 4 : at;
    EXPECT_EQ(found[i].first.fault, ContentFault::body_overwritten) << bytes << " bytes, shifted by " << shift;
    EXPECT_EQ(found[i].first.offset, offset) << bytes << " bytes, shifted by " << shift << ", byte " << at;
  }
}

TEST(ContentVerdict, RefusesALedgerThatOverflowed) {
  ContentReport report{};
  report.ledger_full = 1;
  EXPECT_THROW(content_problem(report, 0), std::logic_error);
}

}  // namespace
}  // namespace allocbench
