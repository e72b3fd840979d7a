// get_page: exactly the wanted share is free, whatever the pattern and the way to get there; nothing stays allocated.
#include "workloads/get_page.hpp"

#include <gtest/gtest.h>

#include "allocators/random_walk/corw.hpp"
#include "allocators/random_walk/rw.hpp"
#include "allocators/random_walk/simple_queue.hpp"
#include "allocators/regeff/atomic_malloc.hpp"
#include "tests/workloads/cpu_device.hpp"
#include "workloads/common/observed.hpp"
#include "workloads/verification/content_check.hpp"

namespace allocbench {
namespace {

constexpr std::size_t pages = 1000;
constexpr std::size_t pool_bytes = pages * 256;

template <class A>
class GetPageTest : public ::testing::Test {};
using PageAllocators = ::testing::Types<RandomWalk, CollaborativeRandomWalk, SimpleQueue>;
TYPED_TEST_SUITE(GetPageTest, PageAllocators);

template <class A>
typename A::Parameters thorough() {
  typename A::Parameters parameters;
  if constexpr (requires { parameters.scarce_share; }) parameters.scarce_share = 0.0001;
  return parameters;
}

TYPED_TEST(GetPageTest, LeavesTheWantedShareFree) {
  for (const char* pattern : {"uniform", "first_fit", "self_filled"}) {
    SCOPED_TRACE(pattern);
    test::CpuDevice cpu;
    Arena arena(cpu.stream, pool_bytes);
    const TypeParam allocator = TypeParam::create(arena, thorough<TypeParam>());
    GetPage::Parameters parameters;
    parameters.threads = 100;
    parameters.free_share = 0.04;
    parameters.pattern = pattern;
    const RunSetting<TypeParam> setting{pool_bytes, thorough<TypeParam>(), 5};
    ASSERT_EQ(GetPage::unsupported<TypeParam>(parameters, setting), "");
    GetPage::Run<TypeParam> run(parameters, setting, cpu.stream);
    PointerRules rules;
    for (int sample = 0; sample < 3; ++sample) {
      run.prepare();
      PhaseTimer timer(cpu.stream);
      const ContentCheck contents(cpu.stream, run.mallocs_at_most(), rules);
      if (sample == 2) {
        run.sample(contents.wrap(Counted<TypeParam>(allocator, {})), timer);
        EXPECT_EQ(contents.problem(), "");
      } else {
        run.sample(allocator, timer);
      }
      PointerCheck check(rules);
      run.check_recorded(check);
      EXPECT_TRUE(check.ok()) << check.problem();
      EXPECT_EQ(check.nulls(), 100u - 40u);
      ASSERT_EQ(timer.phases().size(), 2u);
      EXPECT_EQ(timer.phases()[0].operations, 100u);
      EXPECT_EQ(allocator.broken_invariant(cpu.stream), "");
    }
  }
}

TEST(GetPage, CountsCyclesWhereAsked) {
  test::CpuDevice cpu;
  Arena arena(cpu.stream, pool_bytes);
  const RandomWalk allocator = RandomWalk::create(arena, {});
  GetPage::Parameters parameters;
  parameters.threads = 64;
  parameters.lanes_per_warp = 8;
  parameters.cycles = true;
  GetPage::Run<RandomWalk> run(parameters, {pool_bytes, {}, 1}, cpu.stream);
  run.prepare();
  PhaseTimer timer(cpu.stream);
  run.sample(allocator, timer);
  ASSERT_EQ(timer.counters().size(), 2u);
  EXPECT_EQ(timer.counters()[0].first, "alloc_cycles");
  EXPECT_GT(timer.counters()[0].second, 0u);
  EXPECT_EQ(timer.counters()[1].first, "free_cycles");
  EXPECT_GT(timer.counters()[1].second, 0u);
  EXPECT_EQ(run.kernels().size(), 2u);
}

TEST(GetPage, NeedsSingleFreesAndRequestsOfAPage) {
  EXPECT_NE(GetPage::unsupported<AtomicMalloc>({}, {pool_bytes, {}, 1}), "");
  GetPage::Parameters parameters;
  parameters.request_bytes = 257;
  EXPECT_NE(GetPage::unsupported<RandomWalk>(parameters, {pool_bytes, {}, 1}), "");
}

}  // namespace
}  // namespace allocbench
