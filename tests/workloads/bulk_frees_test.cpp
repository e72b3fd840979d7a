// Allocators that free in bulk run under every workload: contents stay intact until the last lane of a warp has
// released, memory comes back, and one that never gives it back is found.
#include <gtest/gtest.h>

#include "allocators/fdgmalloc/fdgmalloc_on.hpp"
#include "tests/workloads/cpu_device.hpp"
#include "workloads/all.hpp"
#include "workloads/common/observed.hpp"
#include "workloads/verification/content_check.hpp"
#include "workloads/verification/leak_check.hpp"

namespace allocbench {
namespace {

constexpr std::size_t pool_bytes = 8 << 20;
constexpr fdgmalloc::Parameters records{.most_warps = 1024};

// Its sessions hear release_all() and do nothing.
struct Forgetful : FdgMallocOnKma {
  using Inner = fdgmalloc::Session<Kma>;
  struct Session : Inner {
    template <class Thread>
    SIMT_FN void release_all(Thread&) {}
  };
  static Forgetful create(Arena& arena, const Parameters& parameters) {
    return {FdgMallocOnKma::create(arena, parameters)};
  }
  template <class Thread>
  SIMT_FN Session attach(Thread& thread) {
    return {FdgMallocOnKma::attach(thread)};
  }
};

template <class W>
class BulkFrees : public ::testing::Test {};
using Workloads =
    ::testing::Types<AllocFree, AllocDealloc, AllocCycleDealloc, Probability, Pairs, TwoPhase, Randomized, PrefixSum>;
TYPED_TEST_SUITE(BulkFrees, Workloads);

template <class P>
P small(std::uint32_t lanes_per_warp) {
  P parameters;
  if constexpr (requires { parameters.threads; }) {
    parameters.threads = 200;
  } else {
    parameters.blocks = 3;
  }
  parameters.threads_per_block = 80;
  parameters.lanes_per_warp = lanes_per_warp;
  parameters.request_bytes = 100;
  return parameters;
}

template <class A>
std::string contents_of_three_samples(auto& run, test::CpuDevice& cpu, const A& allocator, const Arena& arena,
                                      std::uint64_t mallocs) {
  PointerRules rules;
  rules.pool_begin = reinterpret_cast<std::uint64_t>(const_cast<Arena&>(arena).pool().base);
  rules.pool_end = rules.pool_begin + pool_bytes;
  for (int sample = 0; sample < 3; ++sample) {
    run.prepare();
    PhaseTimer timer(cpu.stream);
    const ContentCheck contents(cpu.stream, mallocs, rules);
    run.sample(contents.wrap(Counted<A>(allocator, {})), timer);
    if (!contents.problem().empty()) return contents.problem();
    PointerCheck check(rules);
    run.check_recorded(check);
    if (!check.ok()) return check.problem();
    if (check.nulls() != 0) return std::to_string(check.nulls()) + " nulls";
    const std::string broken = allocator.broken_invariant(cpu.stream);
    if (!broken.empty()) return broken;
  }
  return {};
}

TYPED_TEST(BulkFrees, KeepContentsAndReturnMemory) {
  for (std::uint32_t lanes : {1u, 32u}) {
    test::CpuDevice cpu;
    Arena arena(cpu.stream, pool_bytes);
    using A = FdgMallocOnKma;
    const A allocator = A::create(arena, records);
    const RunSetting<A> setting{pool_bytes, records, 1};
    const auto parameters = small<typename TypeParam::Parameters>(lanes);
    ASSERT_EQ(TypeParam::template unsupported<A>(parameters, setting), "");
    typename TypeParam::template Run<A> run(parameters, setting, cpu.stream);
    EXPECT_EQ(contents_of_three_samples(run, cpu, allocator, arena, run.mallocs_at_most()), "") << lanes << " lanes";
    // "partial" is as good: how many rounds fit the time budget says nothing about the allocator.
    EXPECT_GE(LeakCheck<A>(cpu.stream, run.requests(), setting).run(allocator).rounds, 2u);
  }
}

// Lanes release again and again, each for itself, while others of their warp still hold blocks. Memory comes back when
// no lane of a warp holds any, which need not happen before the end: all requests fit the pool.
TEST(BulkFreesPrivate, ContentsStayWhileOtherLanesRelease) {
  test::CpuDevice cpu;
  Arena arena(cpu.stream, pool_bytes);
  const FdgMallocOnKma allocator = FdgMallocOnKma::create(arena, records);
  TwoPhase::Parameters parameters;
  parameters.threads = 100;
  parameters.threads_per_block = 80;
  parameters.request_bytes = 1000;
  parameters.mode = "private";
  parameters.allocations = 3;
  parameters.cycles = 15;
  TwoPhase::Run<FdgMallocOnKma> run(parameters, {pool_bytes, records, 1}, cpu.stream);
  EXPECT_EQ(contents_of_three_samples(run, cpu, allocator, arena, run.mallocs_at_most()), "");
}

TEST(BulkFreesLeak, IsFoundWhenASessionNeverReleases) {
  test::CpuDevice cpu;
  Arena arena(cpu.stream, pool_bytes);
  const Forgetful allocator = Forgetful::create(arena, records);
  const RequestProfile profile{Geometry::of_callers(200, 64, 32), RequestSizes::fixed(2000)};
  EXPECT_THROW(static_cast<void>(LeakCheck<Forgetful>(cpu.stream, profile, {pool_bytes, records, 1}).run(allocator)),
               CellFailure);
}

}  // namespace
}  // namespace allocbench
