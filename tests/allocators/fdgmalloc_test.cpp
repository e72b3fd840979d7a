// These tests of FDGMalloc cover sessions and bulk frees by hand-made sequences, then seeded schedules in which lanes
// of a warp diverge.
#include "allocators/fdgmalloc/fdgmalloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/fdgmalloc/fdgmalloc_reworked.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::Rig;

// TakeLargest requests a block of `bytes` bytes from the device heap and frees it. `served` tells whether the device
// heap had room for it.
struct TakeLargest {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t bytes, std::uint32_t* served) const {
    void* const block = thread.device_heap().malloc(bytes);
    *served = block != nullptr;
    if (block != nullptr) thread.device_heap().free(block);
  }
};

bool device_heap_serves(simt::Stream& stream, std::uint64_t bytes) {
  simt::Buffer<std::uint32_t> served(1);
  simt::launch(stream, {1, 1}, TakeLargest{}, bytes, served.data());
  return served.to_host(stream)[0] != 0;
}

template <class A>
class FdgMallocTest : public ::testing::Test {};
using Forms = ::testing::Types<FdgMalloc, FdgMallocReworked, FdgMallocReworkedOnCFMMalloc, FdgMallocReworkedOnKma>;
TYPED_TEST_SUITE(FdgMallocTest, Forms);

template <class A>
class FdgMallocOnDeviceHeapTest : public ::testing::Test {};
using FormsOnDeviceHeap = ::testing::Types<FdgMalloc, FdgMallocReworked>;
TYPED_TEST_SUITE(FdgMallocOnDeviceHeapTest, FormsOnDeviceHeap);

TYPED_TEST(FdgMallocOnDeviceHeapTest, CutsBlocksFromTheSameSuperblockInLaterKernels) {
  Rig<TypeParam> rig(1 << 20);
  const std::vector<void*> first = rig.malloc({100});
  const std::vector<void*> second = rig.malloc({16});
  const std::vector<void*> third = rig.malloc({1});
  EXPECT_EQ(rig.offset(second[0]) - rig.offset(first[0]), 112);
  EXPECT_EQ(rig.offset(third[0]) - rig.offset(second[0]), 16);
  EXPECT_FALSE(device_heap_serves(rig.stream(), (1 << 20) - 4096));
  rig.release_all(1);
  EXPECT_TRUE(device_heap_serves(rig.stream(), (1 << 20) - 4096));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(FdgMallocOnDeviceHeapTest, KeepsTheMemoryOfAWarpUntilItsLastLaneReleases) {
  Rig<TypeParam> rig(1 << 20);
  rig.malloc(std::vector<std::uint64_t>(5, 64));
  rig.release_all(4);
  EXPECT_FALSE(device_heap_serves(rig.stream(), (1 << 20) - 4096));
  rig.release_all(32);  // lanes without blocks may release as well
  EXPECT_TRUE(device_heap_serves(rig.stream(), (1 << 20) - 4096));
}

TEST(FdgMallocReworked, MovesTheLanesThatDoNotFitToTheStartOfANewSuperblock) {
  Rig<FdgMallocReworked> rig(1 << 20, {.superblock_bytes = 1024});  // a SuperBlock has 63 units of payload
  const std::vector<void*> first = rig.malloc({60 * 16});
  const std::vector<void*> second = rig.malloc({64});  // needs 4 units, but 3 are left
  EXPECT_NE(rig.offset(second[0]), rig.offset(first[0]) + 60 * 16);
  const std::vector<void*> third = rig.malloc({16});
  EXPECT_EQ(rig.offset(third[0]), rig.offset(second[0]) + 64);
}

TYPED_TEST(FdgMallocTest, ReleasesNothingWhereNothingWasAllocated) {
  Rig<TypeParam> rig(1 << 20);
  rig.release_all(64);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  EXPECT_NE(rig.malloc({16})[0], nullptr);
}

TYPED_TEST(FdgMallocTest, ServesWarpSumsAroundTheSizeOfASuperblock) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    for (std::uint64_t bytes : {255, 256, 257, 625, 4096}) {  // sums of 8,160 bytes and more
      Rig<TypeParam> rig(2 << 20, {.most_warps = 64}, seed);
      const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, bytes));
      std::vector<void*> sorted = blocks;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_NE(sorted[0], nullptr) << bytes << " seed " << seed;
      for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sorted[i]) % 16, 0u);
        if (i == 0) continue;
        ASSERT_GE(rig.offset(sorted[i]), rig.offset(sorted[i - 1]) + static_cast<std::ptrdiff_t>(bytes));
      }
      rig.release_all(32);
      ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    }
  }
}

TYPED_TEST(FdgMallocTest, ChainsHundredsOfSuperblocksOfOneWarp) {
  Rig<TypeParam> rig(4 << 20, {.superblock_bytes = 256});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) ASSERT_NE(rig.malloc({240})[0], nullptr) << i;
    rig.release_all(1);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TYPED_TEST(FdgMallocTest, AnswersNullToWarpsWithoutARecord) {
  Rig<TypeParam> rig(1 << 20, {.most_warps = 2});
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(96, 16));
  EXPECT_NE(blocks[63], nullptr);
  EXPECT_EQ(blocks[64], nullptr);
  rig.release_all(96);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(FdgMallocTest, AnswersNullWhenTheBackingAllocatorIsEmpty) {
  Rig<TypeParam> rig(256 << 10);
  std::size_t served = 0;
  for (int round = 0; round < 3; ++round) {
    std::size_t now = 0;
    for (int i = 0; i < 200; ++i) now += rig.malloc({4000})[0] != nullptr;
    EXPECT_GT(now, 10u);
    EXPECT_LT(now, 200u);
    EXPECT_EQ(now, round == 0 ? now : served);
    served = now;
    rig.release_all(1);
  }
}

// In each round of Diverge, lanes take different numbers of blocks of different sizes, check all of them, and release
// them.
struct Diverge {
  static constexpr std::uint32_t most_blocks = 6;

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint32_t seed, std::uint32_t rounds, void** blocks,
                          std::uint32_t* broken, std::uint32_t* served) const {
    auto&& session = attach(allocator, thread);
    const std::uint32_t self = thread.rank_in_grid();
    std::uint32_t random = (seed * 0x9e3779b9u) ^ (self * 0x85ebca6bu + 1);
    void** const mine = blocks + self * most_blocks;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      random = random * 1664525u + 1013904223u;
      const std::uint32_t count = (random >> 8) % (most_blocks + 1);
      const std::uint64_t bytes = 16 + (random >> 16) % 20 * 16;
      for (std::uint32_t i = 0; i < count; ++i) {
        mine[i] = session.malloc(thread, bytes);
        if (mine[i] == nullptr) continue;
        thread.atomic(*served).fetch_add(1u, simt::relaxed);
        for (std::uint64_t word = 0; word < bytes / 4; ++word) {
          static_cast<std::uint32_t*>(mine[i])[word] = testing::Churn::content(self * most_blocks + i, word);
        }
      }
      thread.spin_hint();
      for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint64_t word = 0; mine[i] != nullptr && word < bytes / 4; ++word) {
          if (static_cast<std::uint32_t*>(mine[i])[word] != testing::Churn::content(self * most_blocks + i, word)) {
            thread.atomic(*broken).fetch_add(1u, simt::relaxed);
          }
        }
        session.free(thread, mine[i]);
      }
      release_all(session, thread);
    }
    detach(session, thread);
  }
};

TYPED_TEST(FdgMallocTest, SurvivesSeededSchedulesInWhichLanesDiverge) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(100); ++seed) {
    const auto small = small_heap<TypeParam>();
    Rig<TypeParam> rig(small.pool_bytes, small.parameters, seed);
    const simt::LaunchShape shape{2, static_cast<std::uint32_t>(2 + seed % 40)};
    const std::uint32_t lanes = shape.blocks * shape.threads_per_block;
    simt::Buffer<void*> blocks(lanes * Diverge::most_blocks);
    simt::Buffer<std::uint32_t> words(2);
    words.fill_bytes(rig.stream(), 0);
    simt::launch(rig.stream(), shape, Diverge{}, rig.allocator, static_cast<std::uint32_t>(seed), 5u, blocks.data(),
                 words.data(), words.data() + 1);
    const std::vector<std::uint32_t> host = words.to_host(rig.stream());
    ASSERT_EQ(host[0], 0u) << "seed " << seed;
    ASSERT_GT(host[1], 0u) << "seed " << seed;
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
    if constexpr (TypeParam::traits.pool == PoolLocation::device_heap) {
      ASSERT_TRUE(device_heap_serves(rig.stream(), small.pool_bytes - 1024)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace allocbench
