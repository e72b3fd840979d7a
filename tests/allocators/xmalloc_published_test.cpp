// XMalloc as published: FIFOs, Memoryblocks and mixed warps, then seeded schedules on heaps of a few Superblocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "allocators/xmalloc/xmalloc.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/allocators/shared_cases.hpp"

namespace allocbench {
namespace {

using testing::count_served;
using testing::Rig;

// Every lane pushes `each` numbers of its own and pops as many, in turn; what is popped is counted in `seen`.
struct ExchangePushAndPop {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, xmalloc::ExchangeFifo fifo, std::uint32_t each, std::uint32_t* seen,
                          std::uint32_t* refused) const {
    for (std::uint32_t i = 0; i < each; ++i) {
      if (!fifo.push(thread, thread.rank_in_grid() * each + i)) thread.atomic(*refused).fetch_add(1u, simt::relaxed);
      std::uint32_t value;
      if (i % 3 != 0 && fifo.pop(thread, value)) thread.atomic(seen[value]).fetch_add(1u, simt::relaxed);
    }
  }
};
struct ExchangePopAll {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, xmalloc::ExchangeFifo fifo, std::uint32_t* seen) const {
    std::uint32_t value;
    while (fifo.pop(thread, value)) thread.atomic(seen[value]).fetch_add(1u, simt::relaxed);
  }
};
struct InitialiseExchangeFifo {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, xmalloc::ExchangeFifo fifo) const {
    fifo.initialise(thread, thread.rank_in_grid(), thread.grid_size());
  }
};

TEST(XMallocExchangeFifo, PassesEveryAdmittedValueOnExactlyOnce) {
  constexpr std::uint32_t lanes = 48, each = 9;
  std::uint32_t refusals = 0;
  for (std::uint64_t seed = 1; seed <= testing::seeds(200); ++seed) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.strategy = simt::StrategyKind::swarm;
    options.seed = seed;
    simt::Device device(options);
    simt::Stream stream(device);
    simt::Buffer<xmalloc::ExchangeFifo::Ends> ends(1);
    simt::Buffer<std::uint64_t> slots(8);
    simt::Buffer<std::uint32_t> seen(lanes * each + 1);
    seen.fill_bytes(stream, 0);
    const xmalloc::ExchangeFifo fifo{ends.data(), slots.data(), 8};
    simt::launch(stream, {1, 4}, InitialiseExchangeFifo{}, fifo);
    simt::launch(stream, {2, lanes / 2}, ExchangePushAndPop{}, fifo, each, seen.data(), seen.data() + lanes * each);
    simt::launch(stream, {1, 1}, ExchangePopAll{}, fifo, seen.data());
    const std::vector<std::uint32_t> counts = seen.to_host(stream);
    const std::uint32_t refused = counts.back();
    EXPECT_EQ(*std::max_element(counts.begin(), counts.end() - 1), 1u) << "seed " << seed;
    ASSERT_EQ(std::accumulate(counts.begin(), counts.end() - 1, 0u) + refused, lanes * each) << "seed " << seed;
    refusals += refused;
  }
  EXPECT_GT(refusals, 0u) << "the ring never was full: the test tests less than it says";
}

TEST(XMallocPublished, SplitsAndMergesMemoryblocksOfOneList) {
  XMalloc::Parameters parameters;
  parameters.superblocks = false;
  Rig<XMalloc> rig(64 * 1024, parameters, 1, 1);
  // Too large for Basicblocks: 16 bytes of header in front of each.
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(rig.malloc({10'000})[0]);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(rig.offset(blocks[i]), static_cast<std::ptrdiff_t>(16 + i * 10'016));
  EXPECT_EQ(rig.malloc({10'000})[0], nullptr);
  rig.free({blocks[1]});
  rig.free({blocks[3]});
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  EXPECT_EQ(rig.malloc({20'000})[0], nullptr);
  rig.free({blocks[2]});  // joins both neighbours
  EXPECT_EQ(rig.offset(rig.malloc({30'000})[0]), 16 + 10'016);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

template <class A>
class XMallocPublishedTest : public ::testing::Test {};
using Forms = ::testing::Types<XMalloc, XMallocDeviceHeap>;
TYPED_TEST_SUITE(XMallocPublishedTest, Forms);

TYPED_TEST(XMallocPublishedTest, ServesAMixedWarp) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rig<TypeParam> rig(4 << 20, {}, seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::expect_mixed_warp_served(rig);
  }
}

// 32 pieces of 16 + 240 bytes and the count of the parent: more than the largest Basicblock holds.
TYPED_TEST(XMallocPublishedTest, SendsAWarpWhoseSumIsTooLargeToTheHeap) {
  Rig<TypeParam> rig(16 << 20, {}, 1, 4, simt::StrategyKind::lockstep);
  for (const std::uint64_t bytes : {208, 240, 255}) {
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, bytes));
    ASSERT_EQ(count_served(blocks), 32u);
    auto* const parent = static_cast<std::byte*>(blocks[0]) - 32;
    EXPECT_EQ(xmalloc::Tag{xmalloc::Tag::before(parent)}.type(),
              bytes == 208 ? xmalloc::Tag::basic : xmalloc::Tag::whole);
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TYPED_TEST(XMallocPublishedTest, ServesAsMuchAgainOfTheSameSize) {
  for (const bool coalescing : {true, false}) {
    auto parameters = small_heap<TypeParam>().parameters;
    parameters.coalescing = coalescing;
    Rig<TypeParam> rig(32 << 10, parameters);
    const auto fill = [&] {
      std::vector<void*> all;
      for (std::vector<void*> blocks = rig.malloc({100}); blocks[0] != nullptr; blocks = rig.malloc({100})) {
        all.push_back(blocks[0]);
      }
      return all;
    };
    std::vector<void*> blocks = fill();
    ASSERT_GT(blocks.size(), 50u);
    for (int round = 0; round < 3; ++round) {
      const std::size_t before = blocks.size();
      rig.free(blocks);
      EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
      blocks = fill();
      EXPECT_EQ(blocks.size(), before);
    }
  }
}

template <class A>
void churn_on_tiny_heaps(typename A::Parameters parameters, std::uint64_t usual_seeds) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(usual_seeds); ++seed) {
    Rig<A> rig(seed % 2 == 0 ? 6 << 10 : 16 << 10, parameters, seed, 4, simt::StrategyKind::swarm);
    testing::ChurnSetting setting;
    setting.shape = seed % 5 == 0 ? simt::LaunchShape{1, 2} : simt::LaunchShape{2, 24};
    setting.rounds = seed % 5 == 0 ? 24 : 4;
    setting.slots = static_cast<std::uint32_t>(1 + seed % 40);
    setting.sizes = seed % 3 == 0 ? std::vector<std::uint64_t>{16} : std::vector<std::uint64_t>{16, 64, 200, 500, 2400};
    const testing::ChurnResult result = testing::churn(rig.allocator, rig.stream(), seed, setting);
    ASSERT_EQ(result.broken, 0u) << "seed " << seed;
    ASSERT_GT(result.served, 0u) << "seed " << seed;
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
  }
}

TYPED_TEST(XMallocPublishedTest, SurvivesSeededSchedulesOnTinyHeaps) {
  churn_on_tiny_heaps<TypeParam>(small_heap<TypeParam>().parameters, 40);
}
TYPED_TEST(XMallocPublishedTest, SurvivesSeededSchedulesWithoutCoalescing) {
  auto parameters = small_heap<TypeParam>().parameters;
  parameters.coalescing = false;
  churn_on_tiny_heaps<TypeParam>(parameters, 40);
}
TYPED_TEST(XMallocPublishedTest, SurvivesSeededSchedulesWithoutSuperblocks) {
  auto parameters = small_heap<TypeParam>().parameters;
  parameters.superblocks = false;
  churn_on_tiny_heaps<TypeParam>(parameters, 40);
}

}  // namespace
}  // namespace allocbench
