// These tests of the published forms of Ouroboros check sizes, exhaustion and recovery, then use seeded stress of all
// six forms on small heaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocators/ouroboros/ouroboros_c.hpp"
#include "allocators/ouroboros/ouroboros_p.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/shared_cases.hpp"
#include "tests/allocators/stress.hpp"

namespace allocbench {
namespace {

using ouroboros::published::Parameters;
using testing::malloc_until_null;
using testing::Rig;

constexpr std::uint64_t KiB = 1024;

template <class A>
class OuroborosPublishedTest : public ::testing::Test {};
using Forms = ::testing::Types<OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL>;
TYPED_TEST_SUITE(OuroborosPublishedTest, Forms);

Parameters chunks_of(std::uint64_t bytes) {
  Parameters parameters;
  parameters.chunk_bytes = bytes;
  parameters.directory_capacity = 64;
  parameters.reuse_capacity = 1024;
  parameters.held_back = 2;
  parameters.device_heap_share = 0;
  return parameters;
}

TEST(OuroborosPublishedLayout, PutsAHeaderInFrontOfEveryChunk) {
  Rig<OuroborosPS> rig(1024 * KiB, chunks_of(8192));
  // A chunk has 128 bytes of header and 8192 bytes of data.
  EXPECT_EQ(rig.offset(rig.malloc({8192})[0]), 128);
  EXPECT_EQ(rig.offset(rig.malloc({8192})[0]), 8320 + 128);
  EXPECT_EQ(rig.offset(rig.malloc({4096})[0]) % 8320 % 4096, 128);
  const auto& chunks = rig.allocator.heap().chunks;
  EXPECT_EQ(chunks.header(0).page_bytes, 8192u);
  EXPECT_EQ(chunks.header(2).pages, 2u);
}

TEST(LargestThatFits, FindsTheLastCountBeforeAStep) {
  std::uint64_t last = 0;
  const auto up_to = [&](std::uint64_t limit) {
    return [&last, limit](std::uint64_t count) {
      last = count;
      return count <= limit;
    };
  };
  for (const std::uint64_t limit : {0, 1, 2, 30, 99, 100, 200}) {
    EXPECT_EQ(ouroboros::largest_that_fits(100, up_to(limit)), std::min<std::uint64_t>(limit, 100));
    EXPECT_EQ(last, std::min<std::uint64_t>(limit, 100));
  }
}

// Rings for as many chunks as the pool could hold without rings would be larger than the pool.
TEST(OuroborosPublishedLayout, GivesAPoolSmallerThanItsRingsMoreThanOneChunk) {
  Parameters parameters = chunks_of(8192);
  parameters.ring_capacity = 1 << 17;  // ten classes take 5 MiB
  Rig<OuroborosPS> rig(4096 * KiB, parameters);
  EXPECT_GT(rig.allocator.heap().chunks.bytes(), 1024 * KiB);
}

TYPED_TEST(OuroborosPublishedTest, ServesEverySizeFromChunksOfItsClass) {
  Rig<TypeParam> rig(1024 * KiB, chunks_of(8192));
  for (std::uint64_t bytes = 1; bytes <= 8192; bytes = bytes * 2 + 1) {
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(3, bytes), 3);
    for (void* block : blocks) {
      ASSERT_NE(block, nullptr) << bytes;
      EXPECT_EQ(rig.offset(block) % 16, 0);
      const auto chunk = static_cast<std::uint32_t>(rig.offset(block) / 8320);
      EXPECT_GE(rig.allocator.heap().chunks.header(chunk).page_bytes, bytes);
      EXPECT_LT(rig.allocator.heap().chunks.header(chunk).page_bytes, std::max<std::uint64_t>(2 * bytes, 17));
    }
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 3u);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << bytes;
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << bytes;
  }
}

TYPED_TEST(OuroborosPublishedTest, DetectsExhaustionAndRecoversFromIt) {
  for (const std::uint64_t bytes : {16, 64, 1024}) {
    Rig<TypeParam> rig(128 * KiB, chunks_of(1024));
    const std::size_t blocks = testing::expect_all_blocks_come_again(rig, bytes);
    EXPECT_GE(blocks * bytes, 128 * KiB * 4 / 10) << bytes;
  }
}

TYPED_TEST(OuroborosPublishedTest, ServesTheLastPagesToAPartOfAWarp) {
  Rig<TypeParam> rig(128 * KiB, chunks_of(1024));
  testing::expect_last_blocks_served(rig, 1024);
}

TYPED_TEST(OuroborosPublishedTest, SendsLargeRequestsToTheDeviceHeap) {
  Parameters parameters = chunks_of(8192);
  parameters.device_heap_share = 0.5;
  // The largest request is 7/16 of the device heap's share, rounded down to a power of two.
  EXPECT_EQ(TypeParam::max_request(2048 * KiB, parameters), 256 * KiB);
  Rig<TypeParam> rig(2048 * KiB, parameters);
  const std::vector<void*> blocks = rig.malloc({8192, 8193, 100000, 256 * KiB});
  EXPECT_FALSE(rig.device().in_device_heap(blocks[0]));
  for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_TRUE(rig.device().in_device_heap(blocks[i])) << i;
  rig.free(blocks);
  for (const std::uint64_t huge : {std::uint64_t{1} << 40, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    EXPECT_EQ(rig.malloc({huge})[0], nullptr);
  }
}

TYPED_TEST(OuroborosPublishedTest, IgnoresNullServesZeroBytesAndRefusesTinyPools) {
  Rig<TypeParam> rig(1024 * KiB, chunks_of(8192));
  rig.free({nullptr});
  EXPECT_NE(rig.malloc({0})[0], nullptr);
  EXPECT_EQ(rig.malloc({8193})[0], nullptr);
  EXPECT_THROW(Rig<TypeParam>(8 * KiB, chunks_of(8192)), Unsupported);
}

// A count of more than 2^24 - 1 free pages overflows into the next field, so no page can be taken.
TEST(OuroborosPublished, CountsTo24BitsOfFreePages) {
  using Semaphore = ouroboros::published::PackedSemaphore;
  EXPECT_EQ(Semaphore::count(Semaphore::none + 16777215), 16777215);
  EXPECT_EQ(Semaphore::count(Semaphore::none + 20000000), -13554432);
  EXPECT_EQ(Semaphore::expected(Semaphore::none + 20000000), 1);
}

// The pool has 10.24 GB. Without headers and queues, it would have 40 million pages of 256 bytes.
TEST(OuroborosPublished, SaysWhichConstantBearsThePagesOfAPool) {
  constexpr std::size_t pool = 10240000000;
  Parameters parameters;
  parameters.device_heap_share = 0;
  EXPECT_EQ(OuroborosPS::why_too_many_free(pool, parameters, 256, 0.05),
            "its queue holds at most 8388608 free pages of a class, and the pool has 38092448 of 256 B; "
            "\"parameters\": {\"ring_capacity\": 67108864} bears them");
  EXPECT_EQ(OuroborosPVA::why_too_many_free(pool, parameters, 256, 0.05),
            "its queue holds at most 33550336 free pages of a class, and the pool has 38773664 of 256 B; "
            "\"parameters\": {\"directory_capacity\": 32768} bears them");
  parameters.ring_capacity = 67108864;
  parameters.directory_capacity = 32768;
  EXPECT_EQ(OuroborosPS::why_too_many_free(pool, parameters, 256, 0.5), "");
  EXPECT_EQ(OuroborosPVA::why_too_many_free(pool, parameters, 256, 0.1), "");
  EXPECT_EQ(OuroborosPVL::why_too_many_free(pool, parameters, 256, 0.1), "");
  EXPECT_EQ(OuroborosPVL::why_too_many_free(pool, parameters, 256, 0.5),
            "its semaphore counts at most 16777215 free pages of a class, and 19386496 of 256 B would be free; "
            "use a smaller pool, larger blocks or a smaller free share");
  EXPECT_EQ(OuroborosPVL::why_too_many_free(pool, parameters, 1024, 0.5), "");
}

// If the check accepts a pool, all of its pages can be taken and freed.
TYPED_TEST(OuroborosPublishedTest, TakesAndFreesAllPagesThatItPromisesToBear) {
  Parameters parameters = small_heap<TypeParam>().parameters;
  parameters.ring_capacity = 128;
  parameters.directory_capacity = 16;
  std::size_t pool = 2048;
  while (TypeParam::why_too_many_free(pool + 64, parameters, 16, 1).empty() && pool < 16 * KiB) pool += 64;
  Rig<TypeParam> rig(pool, parameters, 1, 1);
  for (int time = 0; time < 3; ++time) {
    std::vector<void*> blocks;
    for (void* block = rig.malloc({16})[0]; block != nullptr; block = rig.malloc({16})[0]) blocks.push_back(block);
    EXPECT_GT(blocks.size(), 60u);
    EXPECT_EQ(blocks.size(), ouroboros::published::pages_of_class(rig.allocator.heap(), 0));
    rig.free(blocks, 32);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TYPED_TEST(OuroborosPublishedTest, ResetsToTheFirstState) {
  Rig<TypeParam> rig(128 * KiB, chunks_of(1024));
  testing::expect_reset_to_first_state(rig);
}

// The queue positions wrap around their rings and segments many times.
TYPED_TEST(OuroborosPublishedTest, GoesRoundItsQueue) {
  auto small = small_heap<TypeParam>();
  Rig<TypeParam> rig(16 * KiB, small.parameters);
  testing::expect_queues_go_round(rig);
}

TYPED_TEST(OuroborosPublishedTest, ServesManyThreadsWithMixedSizes) {
  Rig<TypeParam> rig(16 * 1024 * KiB, chunks_of(8192), 5);
  testing::expect_many_threads_served(rig, 2000);
}

TYPED_TEST(OuroborosPublishedTest, SurvivesSeededStressOnSmallHeaps) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(120); ++seed) {
    auto small = small_heap<TypeParam>();
    Rig<TypeParam> rig(small.pool_bytes, small.parameters, seed, 4, simt::StrategyKind::swarm);
    testing::StressPlan plan;
    plan.threads = static_cast<std::uint32_t>(8 + seed % 56);
    plan.sizes = seed % 3 == 0 ? std::vector<std::uint64_t>{16} : std::vector<std::uint64_t>{16, 32, 64};
    ASSERT_EQ(testing::stress(rig, plan, seed), "") << "seed " << seed;
  }
}

TEST(OuroborosCSPublished, GivesAFreeChunkToAnotherClassAboveTheLevel) {
  Parameters parameters = chunks_of(1024);
  parameters.release_above = 0;
  Rig<OuroborosCS> rig(128 * KiB, parameters);
  const std::vector<void*> small = malloc_until_null(rig, 16, 32);
  EXPECT_EQ(malloc_until_null(rig, 512, 32).size(), 0u);
  rig.free(small);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  EXPECT_GE(malloc_until_null(rig, 512, 32).size() * 512, small.size() * 16 * 8 / 10);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(OuroborosPublished, CountsCallsWhenAskedTo) {
  Parameters parameters = chunks_of(1024);
  parameters.statistics = true;
  Rig<OuroborosPS> rig(128 * KiB, parameters);
  rig.free(rig.malloc({16, 32}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
