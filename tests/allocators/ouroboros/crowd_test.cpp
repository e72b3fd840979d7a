// These tests of Ouroboros check the number of chunks that a burst takes, then use seeded stress of all six forms.
#include <gtest/gtest.h>

#include "tests/allocators/churn.hpp"
#include "tests/allocators/ouroboros/variants.hpp"
#include "tests/allocators/shared_cases.hpp"
#include "tests/allocators/stress.hpp"

namespace allocbench {
namespace {

using namespace ouroboros;
using testing::Rig;

// Crowd is a set of warps that are all resident and request 16 bytes per lane.
template <class A>
class Crowd {
 public:
  Crowd(simt::StrategyKind strategy, std::uint32_t warps, std::uint32_t lanes, const Parameters& parameters)
      : lanes_(lanes), count_(warps * lanes), device_(options_of(strategy, warps)), stream_(device_) {
    sizes_.from_host(stream_, std::vector<std::uint64_t>(count_, 16));
    allocator_.emplace(A::create(arena_, parameters));
  }

  void malloc_by(std::uint32_t warps) {
    simt::launch(stream_, {warps, lanes_}, testing::MallocAll{}, *allocator_,
                 static_cast<const std::uint64_t*>(sizes_.data()), blocks_.data(), count_);
  }
  void free_by(std::uint32_t warps) {
    simt::launch(stream_, {warps, lanes_}, testing::FreeAll{}, *allocator_, blocks_.data(), warps * lanes_);
  }
  std::uint32_t chunks_taken() { return copy_table(stream_, allocator_->heap().space.pool.state, 1)[0].next_fresh; }
  std::string broken_invariant() { return allocator_->broken_invariant(stream_); }

 private:
  static simt::ExecutorOptions options_of(simt::StrategyKind strategy, std::uint32_t warps) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.strategy = strategy;
    options.slice = 1;
    options.resident_blocks = warps;
    options.guard_pages = false;
    return options;
  }

  std::uint32_t lanes_;
  std::uint32_t count_;
  simt::Device device_;
  simt::Stream stream_;
  Arena arena_{stream_, 8 << 20};
  simt::Buffer<std::uint64_t> sizes_{count_};
  simt::Buffer<void*> blocks_{count_};
  std::optional<A> allocator_;
};

// In a burst on a fresh heap, thousands of lanes together find their class empty, and a chunk serves sixteen warps.
TEST(OuroborosBurst, TakesHardlyMoreChunksThanItNeeds) {
  constexpr std::uint32_t warps = 240;  // ThreadSanitizer has room for 8,000 lanes
  constexpr std::uint32_t needed = warps * 32 / 512;
  for (const auto strategy :
       {simt::StrategyKind::random, simt::StrategyKind::lockstep, simt::StrategyKind::round_robin}) {
    Crowd<Variant<PageHeap<FlatRing>>> crowd(strategy, warps, 32, chunks_of(8192));
    crowd.malloc_by(warps);
    EXPECT_LE(crowd.chunks_taken(), needed + needed / 2) << "strategy " << static_cast<int>(strategy);
  }
}

template <class A>
class OuroborosCrowd : public ::testing::Test {};
TYPED_TEST_SUITE(OuroborosCrowd, ChunkVariants);

// If all groups shared one chunk of 512 pages, each group would wait for the one before it. In round robin all groups
// request at the same moment, so only the queue positions of their takes show the crowd.
TYPED_TEST(OuroborosCrowd, IsSpreadOverMoreChunks) {
  constexpr std::uint32_t warps = 200;
  for (const auto strategy : {simt::StrategyKind::random, simt::StrategyKind::round_robin}) {
    for (const std::uint32_t lanes : {1u, 32u}) {
      SCOPED_TRACE(::testing::Message() << lanes << " lanes, strategy " << static_cast<int>(strategy));
      const std::uint32_t needed = warps * lanes / 512 + 1;
      Parameters parameters = chunks_of(8192);
      parameters.crowd = 16;
      Crowd<TypeParam> crowd(strategy, warps, lanes, parameters);
      const std::uint32_t before = crowd.chunks_taken();
      crowd.malloc_by(1);  // makes the first chunks
      crowd.malloc_by(warps);
      const std::uint32_t chunks = crowd.chunks_taken() - before;
      EXPECT_GE(chunks, needed + 3);
      EXPECT_LE(chunks, warps + 16) << "one each, and the storage of the queue";
      EXPECT_EQ(crowd.broken_invariant(), "");
    }
  }
}

// The chunks of a crowd stay in the class, so later crowds find them. Apart from the chunks that store the queue, the
// class never has more chunks than groups.
TYPED_TEST(OuroborosCrowd, FindsTheChunksOfEarlierCrowds) {
  constexpr std::uint32_t warps = 100;
  Crowd<TypeParam> crowd(simt::StrategyKind::round_robin, warps, 1, chunks_of(8192));
  std::vector<std::uint32_t> taken;
  for (int i = 0; i < 12; ++i) {
    crowd.malloc_by(warps);
    crowd.free_by(warps);
    taken.push_back(crowd.chunks_taken());
  }
  EXPECT_LE(taken.back(), warps + 16);
  EXPECT_EQ(taken[5], taken.back()) << "no further chunk for crowds of equal size";
  EXPECT_EQ(crowd.broken_invariant(), "");
}

// One caller is not a crowd, however often it calls, and three callers are not, either.
TYPED_TEST(OuroborosCrowd, NeedsGroupsThatWait) {
  Crowd<TypeParam> crowd(simt::StrategyKind::round_robin, 3, 1, chunks_of(8192));
  crowd.malloc_by(1);
  const std::uint32_t before = crowd.chunks_taken();
  for (int i = 0; i < 4; ++i) crowd.malloc_by(1);
  crowd.malloc_by(3);
  EXPECT_EQ(crowd.chunks_taken(), before) << "512 pages suffice, and two groups wait at most";
}

// Callers are a crowd if more than two groups wait, a chunk has pages for at least four groups, and more than half of
// the pool was never used.
TYPED_TEST(OuroborosCrowd, CountsGroupsPagesAndChunks) {
  Rig<TypeParam> rig(8192 * KiB, chunks_of(8192));
  const auto& heap = rig.allocator.heap();
  const auto crowded = [&](std::uint32_t bytes, std::uint32_t waiting, std::uint32_t lanes, std::uint32_t fresh = 0) {
    return heap.is_crowded(class_of(bytes), lanes, {7 + waiting, 7, fresh});
  };
  EXPECT_FALSE(crowded(16, 2, 1));
  EXPECT_TRUE(crowded(16, 3, 1));
  EXPECT_FALSE(crowded(16, 2, 32));
  EXPECT_TRUE(crowded(16, 3, 32));
  EXPECT_FALSE(crowded(16, 0u - 7, 1)) << "seven chunks lie in the queue";
  EXPECT_TRUE(crowded(64, 3, 32)) << "four warps to a chunk";
  EXPECT_FALSE(crowded(128, 3, 32)) << "two";
  EXPECT_FALSE(crowded(16, 3, 32, heap.space.pool.chunk_count / 2));
}

template <class A>
class OuroborosStress : public ::testing::Test {};
TYPED_TEST_SUITE(OuroborosStress, Variants);

TYPED_TEST(OuroborosStress, ServesManyThreadsWithMixedSizes) {
  Rig<TypeParam> rig(16 * 1024 * KiB, chunks_of(8192), 5);
  testing::expect_many_threads_served(rig, 3000);
}

TYPED_TEST(OuroborosStress, SurvivesSeededStressOnTinyHeaps) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(120); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto small = small_heap<TypeParam>();
    small.parameters.release_above = seed % 3 == 0 ? 3 : 0;
    Rig<TypeParam> rig(small.pool_bytes + seed % 5 * 512, small.parameters, seed);
    const testing::ChurnResult result =
        testing::churn(rig.allocator, rig.stream(), seed, testing::setting_of(seed, 16, {16, 16, 32, 64, 24}));
    ASSERT_EQ(result.broken, 0u);
    ASSERT_GT(result.served, 0u);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

// The chunks have many pages, so warps draw pages without loading the count, and masks have several words.
TYPED_TEST(OuroborosStress, SurvivesSeededStressWithLargeChunks) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Parameters parameters = chunks_of(2048);
    parameters.ring_capacity = 512;
    parameters.release_above = seed % 2 == 0 ? 0 : 3;
    parameters.crowd = seed % 3 == 0 ? 256 : 1;
    Rig<TypeParam> rig(48 * KiB, parameters, seed);
    testing::ChurnSetting setting;
    setting.shape = seed % 4 == 0 ? simt::LaunchShape{4, 1} : simt::LaunchShape{2, 64};
    setting.rounds = seed % 4 == 0 ? 40 : 4;
    setting.slots = static_cast<std::uint32_t>(1 + seed * 7 % 200);
    setting.sizes = seed % 3 == 0 ? std::vector<std::uint64_t>{16} : std::vector<std::uint64_t>{16, 16, 16, 32, 400};
    const testing::ChurnResult result = testing::churn(rig.allocator, rig.stream(), seed, setting);
    ASSERT_EQ(result.broken, 0u);
    ASSERT_GT(result.served, 0u);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

}  // namespace
}  // namespace allocbench
