// scenario: the wanted share of what an allocator serves is free, blocks of all kernels live together unless they are
// freed at once, and nothing stays allocated.
#include "workloads/scenario.hpp"

#include <gtest/gtest.h>

#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/ouroboros/ouroboros_p.hpp"
#include "allocators/random_walk/rw_malloc.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "tests/workloads/cpu_device.hpp"
#include "workloads/verification/content_check.hpp"

namespace allocbench {
namespace {

Scenario::Parameters of(const char* scenario, std::uint32_t threads) {
  Scenario::Parameters parameters;
  parameters.scenario = scenario;
  parameters.threads = threads;
  return parameters;
}

// Runs three samples and has each one's nulls counted; the last one as the verification pass does.
template <class A>
struct Rig {
  Rig(std::size_t pool_bytes, const typename A::Parameters& parameters)
      : arena(cpu.stream, pool_bytes), own(parameters) {}

  std::vector<std::uint64_t> nulls(const Scenario::Parameters& parameters) {
    const A allocator = A::create(arena, own);
    const RunSetting<A> setting{arena.pool_bytes(), own, 5};
    EXPECT_EQ(Scenario::unsupported<A>(parameters, setting), "");
    Scenario::Run<A> run(parameters, setting, cpu.stream);
    std::vector<std::uint64_t> found;
    for (int sample = 0; sample < 3; ++sample) {
      run.prepare();
      PhaseTimer timer(cpu.stream);
      const ContentCheck contents(cpu.stream, run.mallocs_at_most(), rules);
      if (sample == 2) {
        run.sample(contents.wrap(Counted<A>(allocator, {})), timer);
        EXPECT_EQ(contents.problem(), "");
      } else {
        run.sample(allocator, timer);
      }
      PointerCheck check(rules);
      run.check_recorded(check);
      EXPECT_TRUE(check.ok()) << check.problem();
      found.push_back(check.nulls());
      EXPECT_EQ(timer.phases().size(), 1u);
      operations = timer.phases().front().operations;
      EXPECT_EQ(allocator.broken_invariant(cpu.stream), "");
    }
    return found;
  }

  test::CpuDevice cpu;
  Arena arena;
  typename A::Parameters own;
  PointerRules rules;
  std::uint64_t operations = 0;
};

using Nulls = std::vector<std::uint64_t>;

TEST(Scenario, LeavesTheWantedShareOfThePagesFree) {
  Rig<SimpleQueue> rig(1000 * 256, {});
  Scenario::Parameters parameters = of("alloc_256", 96);
  parameters.free_share = 0.08;
  EXPECT_EQ(rig.nulls(parameters), (Nulls{16, 16, 16}));
  EXPECT_EQ(rig.operations, 96u);
}

// Ouroboros keeps its queues in the pool: the share is one of the chunks that are left.
TEST(Scenario, CountsWhatTheAllocatorServes) {
  OuroborosPS::Parameters own;
  own.device_heap_share = 0;
  Rig<OuroborosPS> rig(4 << 20, own);
  const std::uint32_t chunks = OuroborosPS::create(rig.arena, own).heap().space.pool.chunk_count;
  ASSERT_LT(chunks, 500u);
  Scenario::Parameters parameters = of("alloc_8192", 128);
  parameters.free_share = 0.25;
  const std::uint32_t left = chunks - static_cast<std::uint32_t>(std::llround(0.75 * chunks));
  ASSERT_LT(left, 128u);
  EXPECT_EQ(rig.nulls(parameters), (Nulls(3, 128 - left)));
}

TEST(Scenario, KernelsThatOnlyAllocateAddUp) {
  Rig<SimpleQueue> rig(250 * 256, {});
  Scenario::Parameters parameters = of("alloc_16", 96);
  parameters.launches = 3;
  EXPECT_EQ(rig.nulls(parameters), (Nulls{38, 38, 38}));
  EXPECT_EQ(rig.operations, 288u);
}

TEST(Scenario, KernelsThatFreeAtOnceDoNot) {
  SimpleQueue::Parameters own;
  own.page_bytes = 4096;
  Rig<SimpleQueue> rig(100 * 4096, own);
  Scenario::Parameters parameters = of("alloc_free_4096", 96);
  parameters.launches = 3;
  EXPECT_EQ(rig.nulls(parameters), (Nulls{0, 0, 0}));
  EXPECT_EQ(rig.operations, 2 * 288u);
}

TEST(Scenario, MixedRequestsShareThePoolWithWholeWords) {
  Rig<RandomWalkMalloc> rig(64 * 8192, {});
  Scenario::Parameters parameters = of("alloc_mixed", 24);
  parameters.free_share = 0.5;
  EXPECT_EQ(rig.nulls(parameters), (Nulls{0, 0, 0}));
}

TEST(Scenario, SaysWhoCannotBeBroughtToAShare) {
  EXPECT_EQ(Scenario::unsupported<AtomicMalloc>(of("alloc_16", 64), {1 << 20, {}, 1}), "");
  Scenario::Parameters parameters = of("alloc_16", 64);
  parameters.free_share = 0.5;
  EXPECT_NE(Scenario::unsupported<AtomicMalloc>(parameters, {1 << 20, {}, 1}), "");
  EXPECT_NE(Scenario::unsupported<SimpleQueue>(of("alloc_1024", 64), {1 << 20, {}, 1}), "") << "pages of 256 B";
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
