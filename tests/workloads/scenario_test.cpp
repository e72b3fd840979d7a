// These tests check that scenario leaves the wanted share of the allocator's memory free, that the blocks of all
// kernels are in use together unless they are freed immediately, and that no block stays allocated.
#include "workloads/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/ouroboros/ouroboros_p_reworked.hpp"
#include "allocators/random_walk/rw_malloc_reworked.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "tests/workloads/scratch_folder.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/pairs/kernels.hpp"
#include "workloads/scenario/request_scenarios.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/occupancy/occupancy_kernels.hpp"

namespace allocbench {
namespace {

Scenario::Parameters of(const char* scenario, std::uint32_t threads) {
  Scenario::Parameters parameters;
  parameters.scenario = scenario;
  parameters.threads = threads;
  return parameters;
}

template <class A>
using Rig = test::WorkloadRig<Scenario, A, CallKernels, PairsKernels, OccupancyKernels>;
using Nulls = std::vector<std::uint64_t>;
using SharedCount = test::ScratchFolder;

// Returns the nulls of three samples. The last one runs as in the verification pass.
template <class Rig>
Nulls nulls(Rig& rig) {
  Nulls found;
  for (int sample = 0; sample < 3; ++sample) {
    const std::string problem = sample == 2 ? rig.observed_sample() : rig.sample();
    found.push_back(rig.pointers.nulls());
    EXPECT_EQ(problem, found.back() == 0 ? "" : std::to_string(found.back()) + " nulls");
    EXPECT_EQ(rig.timer->phases().size(), 1u);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
  return found;
}

TEST(Scenario, LeavesTheWantedShareOfThePagesFree) {
  Scenario::Parameters parameters = of("alloc_256", 96);
  parameters.free_share = 0.08;
  Rig<SimpleQueue> rig(parameters, 1000 * 256);
  EXPECT_EQ(nulls(rig), (Nulls{16, 16, 16}));
  EXPECT_EQ(rig.operations("total"), 96u);
}

// The requests that count what the pool serves are not observed, because the ledger has no room for them.
TEST(Scenario, CountsBeforeAnObservedSampleToo) {
  Scenario::Parameters parameters = of("alloc_256", 96);
  parameters.free_share = 0.08;
  Rig<SimpleQueue> rig(parameters, 1000 * 256);
  EXPECT_EQ(rig.observed_sample(), "16 nulls");
}

// The first process stores its count in a file of the run. A second process uses this count if it has the same pool
// and makes the same requests.
TEST_F(SharedCount, OfWhatTheAllocatorServesIsThatOfTheFirstProcess) {
  Scenario::Parameters parameters = of("alloc_256", 96);
  parameters.free_share = 0.08;
  const auto nulls_of_a_pool_of = [&](std::size_t pages) {
    Rig<SimpleQueue> rig(parameters, pages * 256);
    rig.sample();
    return rig.pointers.nulls();
  };
  EXPECT_EQ(nulls_of_a_pool_of(1000), 16u);
  ASSERT_EQ(files().size(), 1u);
  std::fstream file(files()[0], std::ios::binary | std::ios::in | std::ios::out);
  const std::uint32_t half = 500;
  file.seekp(-static_cast<std::streamoff>(sizeof half), std::ios::end);
  file.write(reinterpret_cast<const char*>(&half), sizeof half);
  file.close();
  EXPECT_EQ(nulls_of_a_pool_of(1000), 0u);
  EXPECT_EQ(nulls_of_a_pool_of(900), 24u);
  EXPECT_EQ(files().size(), 2u);
}

// Ouroboros keeps its queues in the pool, so the share refers to the remaining chunks.
TEST(Scenario, CountsWhatTheAllocatorServes) {
  OuroborosPSReworked::Parameters own;
  own.device_heap_share = 0;
  test::CpuDevice cpu;
  Arena arena(cpu.stream, 4 << 20);
  const std::uint32_t chunks = OuroborosPSReworked::create(arena, own).heap().space.pool.chunk_count;
  ASSERT_LT(chunks, 500u);
  Scenario::Parameters parameters = of("alloc_8192", 128);
  parameters.free_share = 0.25;
  const std::uint32_t left = chunks - static_cast<std::uint32_t>(std::llround(0.75 * chunks));
  ASSERT_LT(left, 128u);
  Rig<OuroborosPSReworked> rig(parameters, 4 << 20, own);
  EXPECT_EQ(nulls(rig), (Nulls(3, 128 - left)));
}

TEST(Scenario, KernelsThatOnlyAllocateAddUp) {
  Scenario::Parameters parameters = of("alloc_16", 96);
  parameters.launches = 3;
  Rig<SimpleQueue> rig(parameters, 250 * 256);
  EXPECT_EQ(nulls(rig), (Nulls{38, 38, 38}));
  EXPECT_EQ(rig.operations("total"), 288u);
}

TEST(Scenario, KernelsThatFreeAtOnceDoNot) {
  SimpleQueue::Parameters own;
  own.page_bytes = 4096;
  Scenario::Parameters parameters = of("alloc_free_4096", 96);
  parameters.launches = 3;
  Rig<SimpleQueue> rig(parameters, 100 * 4096, own);
  EXPECT_EQ(nulls(rig), (Nulls{0, 0, 0}));
  EXPECT_EQ(rig.operations("total"), 2 * 288u);
}

TEST(Scenario, MixedRequestsShareThePoolWithWholeWords) {
  Scenario::Parameters parameters = of("alloc_mixed", 24);
  parameters.free_share = 0.5;
  Rig<RandomWalkMallocReworked> rig(parameters, 64 * 8192);
  EXPECT_EQ(nulls(rig), (Nulls{0, 0, 0}));
}

TEST(Scenario, SaysWhoCannotBeBroughtToAShare) {
  EXPECT_EQ((test::why_unsupported<Scenario, AtomicMalloc>(of("alloc_16", 64))), "");
  Scenario::Parameters parameters = of("alloc_16", 64);
  parameters.free_share = 0.5;
  EXPECT_NE((test::why_unsupported<Scenario, AtomicMalloc>(parameters)), "");
  EXPECT_NE((test::why_unsupported<Scenario, SimpleQueue>(of("alloc_1024", 64))), "") << "pages of 256 B";
}

TEST(RequestScenarios, AreWhatTheirNamesSay) {
  std::set<std::string> seen;
  for (const std::string& name : request_scenario_names()) {
    const RequestScenario scenario = request_scenario(name);
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(scenario.frees_at_once, name.starts_with("alloc_free_")) << name;
    if (scenario.is_mixed()) {
      EXPECT_EQ(name, "alloc_mixed");
      EXPECT_EQ(scenario.occupant_bytes(), 8192u);
      const RequestSizes sizes = scenario.request_sizes(4096, 3);
      EXPECT_LE(sizes.largest(), 8192u);
      EXPECT_GT(sizes.largest(), 7000u);
    } else {
      EXPECT_EQ(name.substr(name.rfind('_') + 1), std::to_string(scenario.max_bytes));
      EXPECT_GE(scenario.occupant_bytes(), scenario.max_bytes);
    }
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_THROW(request_scenario("alloc_17"), std::out_of_range);
}

}  // namespace
}  // namespace allocbench
