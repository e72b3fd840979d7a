// Ouroboros under crowds: how many chunks a burst takes, then seeded stress of all six forms.
#include <gtest/gtest.h>

#include "tests/allocators/churn.hpp"
#include "tests/allocators/ouroboros/variants.hpp"
#include "tests/allocators/shared_cases.hpp"
#include "tests/allocators/stress.hpp"

namespace allocbench {
namespace {

using namespace ouroboros;
using testing::Rig;

// Warps that are all resident and ask for 16 bytes per lane.
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

// A burst on a fresh heap: thousands of lanes find their class empty at once, and a chunk serves sixteen warps.
TEST(OuroborosBurst, TakesHardlyMoreChunksThanItNeeds) {
  constexpr std::uint32_t warps = 256;
  constexpr std::uint32_t needed = warps * 32 / 512;
  for (const auto strategy :
       {simt::StrategyKind::random, simt::StrategyKind::lockstep, simt::StrategyKind::round_robin}) {
    Crowd<Variant<PageHeap<FlatRing>>> crowd(strategy, warps, 32, chunks_of(8192));
    crowd.malloc_by(warps);
    EXPECT_LE(crowd.chunks_taken(), needed + needed / 2) << "strategy " << static_cast<int>(strategy);
  }
}

// What a group of `lanes` lanes finds when `waiting` chunks more were asked for than came back.
struct AskWhetherCrowded {
  template <class Thread, class Heap>
  SIMT_FN void operator()(Thread& thread, Heap heap, std::uint32_t id, std::uint32_t waiting, std::uint32_t lanes,
                          std::uint32_t* answer) const {
    const std::uint32_t back = thread.atomic(heap.classes[id].back).load(simt::relaxed);
    thread.atomic(heap.classes[id].front).store(back + waiting, simt::relaxed);
    *answer = heap.is_crowded(thread, id, lanes);
  }
};

template <class A>
class OuroborosCrowd : public ::testing::Test {};
TYPED_TEST_SUITE(OuroborosCrowd, ChunkVariants);

// Groups would wait for one chunk of 512 pages, each for the group before it.
TYPED_TEST(OuroborosCrowd, IsSpreadOverMoreChunks) {
  constexpr std::uint32_t warps = 200;
  Parameters parameters = chunks_of(8192);
  for (const std::uint32_t lanes : {1u, 32u}) {
    SCOPED_TRACE(::testing::Message() << lanes << " lanes");
    const std::uint32_t needed = warps * lanes / 512 + 1;
    parameters.crowd = 16 * lanes;
    Crowd<TypeParam> crowd(simt::StrategyKind::random, warps, lanes, parameters);
    const std::uint32_t before = crowd.chunks_taken();
    crowd.malloc_by(1);  // makes the first chunks
    crowd.malloc_by(warps);
    const std::uint32_t chunks = crowd.chunks_taken() - before;
    EXPECT_GE(chunks, needed + 3);
    EXPECT_LE(chunks, warps + 16) << "one each, and the storage of the queue";
    EXPECT_EQ(crowd.broken_invariant(), "");
  }
}

// More than 256 requests wait: 257 lanes or nine warps. And a chunk must serve four such groups.
TYPED_TEST(OuroborosCrowd, CountsRequestsAndPages) {
  Rig<TypeParam> rig(8192 * KiB, chunks_of(8192));
  const auto& heap = rig.allocator.heap();
  const auto crowded = [&](std::uint64_t bytes, std::uint32_t waiting, std::uint32_t lanes) {
    simt::Buffer<std::uint32_t> answer(1);
    simt::launch(rig.stream(), {1, 1}, AskWhetherCrowded{}, heap, class_of(static_cast<std::uint32_t>(bytes)), waiting,
                 lanes, answer.data());
    return answer.to_host(rig.stream())[0] != 0;
  };
  EXPECT_FALSE(crowded(16, 256, 1));
  EXPECT_TRUE(crowded(16, 257, 1));
  EXPECT_FALSE(crowded(16, 8, 32));
  EXPECT_TRUE(crowded(16, 9, 32));
  EXPECT_TRUE(crowded(64, 9, 32)) << "four warps to a chunk";
  EXPECT_FALSE(crowded(128, 9, 32)) << "two";
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

// Chunks of many pages: warps draw without a look at the count, and masks have several words.
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
