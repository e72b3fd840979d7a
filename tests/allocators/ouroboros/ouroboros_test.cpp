// These tests of Ouroboros check sizes and layouts by hand, and the rules of chunks and queues on small heaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/allocators/ouroboros/variants.hpp"
#include "tests/allocators/shared_cases.hpp"

namespace allocbench {
namespace {

using namespace ouroboros;
using testing::malloc_until_null;
using testing::Rig;

TEST(OuroborosSizes, RoundUpToPowersOfTwo) {
  const struct {
    std::uint32_t bytes, id;
  } rows[] = {{0, 0}, {1, 0}, {16, 0}, {17, 1}, {32, 1}, {33, 2}, {4096, 8}, {4097, 9}, {4100, 9}, {8192, 9}};
  for (const auto& row : rows) EXPECT_EQ(class_of(row.bytes), row.id) << row.bytes;
}

TEST(OuroborosSizes, HaveThePublishedPagesPerChunk) {
  ChunkSpace space;
  space.chunk_log = 13;
  EXPECT_EQ(space.class_count(), 10u);
  for (std::uint32_t id = 0; id < 10; ++id) EXPECT_EQ(1u << space.pages_log(id), 512u >> id);
}

TEST(OuroborosLayout, PutsTheRingsOneBehindTheOther) {
  for (const std::uint32_t whole : {0u, 1u, 4u, 9u}) {
    const RingLayout layout{12, whole};
    std::uint64_t end = 0;
    for (std::uint32_t id = 0; id < 10; ++id) {
      EXPECT_EQ(layout.begin(id), end) << whole << " " << id;
      EXPECT_EQ(layout.capacity(id), 4096u >> (id <= whole ? 0 : id - whole));
      end += layout.capacity(id);
    }
    EXPECT_EQ(layout.begin(10), end);
  }
}

template <class A>
class OuroborosTest : public ::testing::Test {};
TYPED_TEST_SUITE(OuroborosTest, Variants);

TYPED_TEST(OuroborosTest, ServesEverySizeFromChunksOfItsClass) {
  Rig<TypeParam> rig(1024 * KiB, chunks_of(8192));
  const Header header;
  for (std::uint64_t bytes = 1; bytes <= 8192; bytes = bytes * 2 + 1) {
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(3, bytes), 3);
    std::set<std::ptrdiff_t> offsets;
    for (void* block : blocks) {
      ASSERT_NE(block, nullptr) << bytes;
      const std::uint32_t id = class_of(static_cast<std::uint32_t>(bytes));
      EXPECT_EQ(rig.offset(block) % (16 << id), 0) << "pages are aligned to their size";
      EXPECT_EQ(header.id(rig.allocator.heap().space.headers[rig.offset(block) / 8192]), id);
      offsets.insert(rig.offset(block));
    }
    EXPECT_EQ(offsets.size(), 3u);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << bytes;
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << bytes;
  }
}

TYPED_TEST(OuroborosTest, TakesChunksOnlyWhenTheQueueIsEmpty) {
  Parameters parameters = chunks_of(8192);
  parameters.crowd = 1 << 20;  // crowd_test.cpp tests the chunks of crowds
  Rig<TypeParam> rig(1024 * KiB, parameters);
  const auto used = [&] { return rig.allocator.heap().space.pool.state->next_fresh; };
  rig.free(rig.malloc({16}));
  const std::uint32_t before = used();
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(512, 16), 32);
  EXPECT_EQ(used(), before) << "one chunk holds 512 pages of 16 bytes";
  static_cast<void>(rig.malloc({16}));
  EXPECT_GT(used(), before);
  rig.free(blocks);
}

TYPED_TEST(OuroborosTest, ServesAWarpOfTheLargestPagesFromFreshChunksAtOnce) {
  Rig<TypeParam> rig(1024 * KiB, chunks_of(8192));
  std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 8192));
  std::sort(blocks.begin(), blocks.end());
  ASSERT_NE(blocks[0], nullptr);
  for (std::size_t i = 1; i < 32; ++i) {
    EXPECT_GE(static_cast<std::byte*>(blocks[i]) - static_cast<std::byte*>(blocks[i - 1]), 8192);
  }
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(OuroborosTest, DetectsExhaustionAndRecoversFromIt) {
  for (const std::uint64_t bytes : {16, 64, 1024}) {
    Parameters parameters = chunks_of(1024);
    parameters.ring_capacity = 1024;
    Rig<TypeParam> rig(64 * KiB, parameters);
    const std::size_t blocks = testing::expect_all_blocks_come_again(rig, bytes);
    // Headers and queues take the rest of the pool. Each page of 16 bytes needs four bytes of queue, and a flat ring
    // limits the number of pages.
    EXPECT_GE(blocks, std::min<std::size_t>(1024, 64 * KiB * 6 / 10 / bytes)) << bytes;
  }
}

TYPED_TEST(OuroborosTest, ServesTheLastPagesToAPartOfAWarp) {
  Rig<TypeParam> rig(64 * KiB, chunks_of(1024));
  testing::expect_last_blocks_served(rig, 1024);
}

TYPED_TEST(OuroborosTest, SendsLargeRequestsToTheDeviceHeap) {
  Parameters parameters = chunks_of(8192);
  parameters.device_heap_share = 0.25;
  EXPECT_EQ(TypeParam::device_heap_bytes(1024 * KiB, parameters), 256 * KiB);
  EXPECT_EQ(TypeParam::max_request(1024 * KiB, parameters), largest_in_device_heap(256 * KiB));
  Rig<TypeParam> rig(1024 * KiB, parameters);
  const std::vector<void*> blocks = rig.malloc({8192, 8193, 100000});
  EXPECT_FALSE(rig.device().in_device_heap(blocks[0]));
  EXPECT_TRUE(rig.device().in_device_heap(blocks[1]));
  EXPECT_TRUE(rig.device().in_device_heap(blocks[2]));
  rig.free(blocks);
  EXPECT_EQ(rig.malloc({std::uint64_t{1} << 40})[0], nullptr);
}

TYPED_TEST(OuroborosTest, IgnoresNullServesZeroBytesAndRefusesTinyPools) {
  Rig<TypeParam> rig(1024 * KiB, chunks_of(8192));
  rig.free({nullptr});
  EXPECT_NE(rig.malloc({0})[0], nullptr);
  EXPECT_EQ(rig.malloc({8193})[0], nullptr);
  EXPECT_THROW(Rig<TypeParam>(8 * KiB, chunks_of(8192)), Unsupported);
}

TYPED_TEST(OuroborosTest, ResetsToTheFirstState) {
  Rig<TypeParam> rig(64 * KiB, chunks_of(1024));
  testing::expect_reset_to_first_state(rig);
}

// The queue positions wrap around their rings and segments many times.
TYPED_TEST(OuroborosTest, GoesRoundItsQueue) {
  Parameters parameters = chunks_of(64);
  parameters.ring_capacity = 128;
  Rig<TypeParam> rig(16 * KiB, parameters);
  testing::expect_queues_go_round(rig);
}

// The chunks of these variants can leave their class.
template <class A>
class OuroborosChunkTest : public ::testing::Test {};
TYPED_TEST_SUITE(OuroborosChunkTest, ChunkVariants);

TYPED_TEST(OuroborosChunkTest, GivesFreeChunksToOtherClasses) {
  Parameters parameters = chunks_of(1024);
  parameters.release_above = 0;
  Rig<TypeParam> rig(64 * KiB, parameters);
  const std::vector<void*> small = malloc_until_null(rig, 16, 32);
  EXPECT_EQ(malloc_until_null(rig, 512, 32).size(), 0u);
  rig.free(small);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  const std::vector<void*> large = malloc_until_null(rig, 512, 32);
  EXPECT_GE(large.size() * 512, small.size() * 16 * 8 / 10);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(OuroborosChunkTest, KeepsFreeChunksBelowThePublishedLevel) {
  Rig<TypeParam> rig(64 * KiB, chunks_of(1024));
  rig.free(malloc_until_null(rig, 16, 32));
  EXPECT_EQ(malloc_until_null(rig, 512, 32).size(), 0u);
  EXPECT_EQ(rig.allocator.heap().space.pool.state->returned.units, 0u);
}

TYPED_TEST(OuroborosChunkTest, KeepsAChunkThatTheReuseRingCannotHold) {
  Parameters parameters = chunks_of(1024);
  parameters.release_above = 0;
  parameters.reuse_capacity = 4;
  Rig<TypeParam> rig(64 * KiB, parameters);
  const std::size_t pages = malloc_until_null(rig, 1024, 32).size();
  rig.allocator.reset(rig.stream());
  rig.free(malloc_until_null(rig, 1024, 32));
  EXPECT_EQ(rig.allocator.heap().space.pool.state->returned.units, 4u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  // A virtualised queue takes one of the four chunks for itself.
  EXPECT_EQ(malloc_until_null(rig, 512, 32).size(),
            std::decay_t<decltype(rig.allocator.heap().storage)>::virtualised ? 6u : 8u);
  EXPECT_EQ(malloc_until_null(rig, 1024, 32).size(), pages - 4);
}

TEST(OuroborosFlatRing, BoundsThePagesOfAClassByItsRing) {
  Parameters parameters = chunks_of(1024);
  parameters.ring_capacity = 256;
  Rig<Variant<PageHeap<FlatRing>>> rig(256 * KiB, parameters);
  EXPECT_EQ(malloc_until_null(rig, 16, 32).size(), 256u);
  EXPECT_EQ(malloc_until_null(rig, 1024, 32).size() > 64, true) << "a class of larger pages is not concerned";
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(OuroborosArray, BoundsThePagesOfAClassByHalfTheArray) {
  Parameters parameters = chunks_of(1024);
  parameters.directory_capacity = 8;  // 4 segments of 256 slots, one of them spare
  Rig<Variant<PageHeap<SegmentedQueue<ArrayHierarchy>>>> rig(256 * KiB, parameters);
  EXPECT_EQ(malloc_until_null(rig, 16, 32).size(), 3u * 256);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
