// These tests of XMalloc cover FIFOs, Memoryblocks, Superblocks and Coalescingblocks by hand-made sequences, then
// seeded schedules on heaps of a few Superblocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "allocators/xmalloc/xmalloc_reworked.hpp"
#include "tests/allocators/fidelity/rig.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/allocators/shared_cases.hpp"
#include "tests/allocators/xmalloc_cases.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::count_served;
using testing::FidelityRig;
using testing::Ops;
using testing::Rig;

TEST(XMallocFifo, PassesEveryAdmittedValueOnExactlyOnce) {
  testing::expect_fifo_passes_every_admitted_value_once<xmalloc::Fifo, xmalloc::FifoCounters, xmalloc::FifoSlot,
                                                        std::uint64_t>();
}

TEST(XMallocReworked, SplitsAndMergesMemoryblocks) {
  Rig<XMallocReworked> rig(64 * 1024, {.superblocks = false}, 1, 1);
  testing::expect_memoryblocks_split_and_merge(rig);
}

TEST(XMallocReworked, ServesLanesOneByOneWhenNoBasicblockIsLeftForAll) {
  // Three Superblocks of the smallest Basicblocks fill the pool. Then four lanes together need a Basicblock of the next
  // size.
  Rig<XMallocReworked> rig(64 * 1024, {}, 1, 1, simt::StrategyKind::lockstep);
  std::vector<void*> blocks;
  for (void* block = rig.malloc({300})[0]; block != nullptr; block = rig.malloc({300})[0]) blocks.push_back(block);
  ASSERT_EQ(blocks.size(), 96u);
  rig.free({blocks[0], blocks[40], blocks[80], blocks[90]});
  EXPECT_EQ(count_served(rig.malloc({200, 200, 200, 200})), 4u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(XMallocReworked, ServesAWarpFromOneMemoryblockOrFromSeveral) {
  Rig<XMallocReworked> rig(512 * 1024, {.superblocks = false}, 1, 1);
  // The blocks come from one free block, without gaps. The schedule determines which lanes come together.
  const std::vector<std::uint64_t> sizes{10'000, 20'000, 9'000, 30'000};
  const std::vector<void*> together = rig.malloc(sizes);
  std::vector<std::size_t> by_address{0, 1, 2, 3};
  std::sort(by_address.begin(), by_address.end(), [&](auto a, auto b) { return together[a] < together[b]; });
  std::ptrdiff_t expected = 16;
  for (const std::size_t i : by_address) {
    EXPECT_EQ(rig.offset(together[i]), expected) << i;
    expected += static_cast<std::ptrdiff_t>((sizes[i] + 15) / 16 * 16 + 16);
  }
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  // No free block is large enough for all, so the lanes take the holes one after the other.
  std::vector<void*> rest;
  for (void* block = rig.malloc({10'000})[0]; block != nullptr; block = rig.malloc({10'000})[0]) rest.push_back(block);
  rig.free({rest[0], rest[2], rest[4]});
  const std::vector<void*> apart = rig.malloc({10'000, 10'000, 10'000, 10'000});
  EXPECT_EQ(std::count(apart.begin(), apart.end(), nullptr), 1);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  rig.free({rest[1], rest[3], apart[0], apart[1], apart[2], apart[3]});
  rig.free(std::vector<void*>(rest.begin() + 5, rest.end()));
  rig.free(together);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  EXPECT_EQ(rig.offset(rig.malloc({500'000})[0]), 16);
}

template <class Thread>
class MergeCounter : public Thread {
 public:
  explicit MergeCounter(const Thread& thread) : Thread(thread) {}
  void probe(simt::Step step) { merges_ += step == simt::Step::merge; }
  std::uint32_t merges() const { return merges_; }

 private:
  std::uint32_t merges_ = 0;
};
struct FreeAndCount {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t* merges) const {
    MergeCounter<Thread> counter(thread);
    allocator.free(counter, blocks[thread.rank_in_grid()]);
    thread.atomic(*merges).fetch_add(counter.merges(), simt::relaxed);
  }
};
template <class A>
std::uint32_t merges_of_free(Rig<A>& rig, const std::vector<void*>& blocks) {
  simt::Buffer<void*> freed(blocks.size());
  freed.from_host(rig.stream(), blocks);
  simt::Buffer<std::uint32_t> merges(1);
  merges.fill_bytes(rig.stream(), 0);
  simt::launch(rig.stream(), {1, static_cast<std::uint32_t>(blocks.size())}, FreeAndCount{}, rig.allocator,
               freed.data(), merges.data());
  return merges.to_host(rig.stream()).front();
}

TEST(XMallocReworked, FreesBlocksInARowAsOne) {
  Rig<XMallocReworked> rig(1 << 20, {.superblocks = false}, 1, 1, simt::StrategyKind::lockstep);
  const std::vector<std::uint64_t> sizes(32, 10'000);
  std::vector<void*> blocks = rig.malloc(sizes);
  EXPECT_EQ(merges_of_free(rig, blocks), 1u);  // merges with the block behind them
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");

  // The freed blocks are two rows and a single block. The blocks between them stay.
  blocks = rig.malloc(sizes);
  EXPECT_EQ(merges_of_free(rig, {blocks[0], blocks[1], blocks[2], blocks[9], blocks[20], blocks[21]}), 0u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  EXPECT_EQ(rig.offset(rig.malloc({30'000})[0]), 16);
  EXPECT_EQ(rig.offset(rig.malloc({10'000})[0]), 16 + 9 * 10'016);
  EXPECT_EQ(rig.offset(rig.malloc({20'000})[0]), 16 + 20 * 10'016);
}

TEST(XMallocReworked, KeepsFreedBlocksAboveTheLargestBasicblock) {
  constexpr std::size_t pool_bytes = 4 << 20;
  Rig<XMallocReworked> rig(pool_bytes, {}, 1, 1, simt::StrategyKind::lockstep);
  const std::vector<std::uint64_t> sizes(32, 10'100);
  std::vector<void*> first = rig.malloc(sizes);
  ASSERT_EQ(count_served(first), 32u);
  EXPECT_EQ(merges_of_free(rig, first), 0u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  // Requests of 9,300 and 10,100 bytes both take blocks of 10,240 bytes. A request of 9,200 bytes takes a smaller
  // block.
  std::vector<void*> second = rig.malloc(std::vector<std::uint64_t>(32, 9'300));
  std::vector<void*> other = rig.malloc(std::vector<std::uint64_t>(32, 9'200));
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(count_served(other), 32u);
  EXPECT_GT(*std::min_element(other.begin(), other.end()), first.back());
  rig.free(second);
  rig.free(other);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  // The heap has no room for this request before the kept blocks return to it.
  const std::vector<void*> all = rig.malloc({pool_bytes - 512});
  EXPECT_EQ(count_served(all), 1u);
  rig.free(all);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(XMallocReworked, AWarpGetsKeptBlocksByMovingFourCounters) {
  FidelityRig<XMallocReworked> rig(4 << 20);
  const std::vector<std::uint64_t> sizes(32, 8192);
  rig.counted_free(rig.counted_malloc(sizes).blocks);
  const auto mallocs = rig.counted_malloc(sizes);
  EXPECT_EQ(count_served(mallocs.blocks), 32u);
  // Every lane loads whether any blocks are kept, and loads and stores the turn of its slot. One lane loads whether
  // blocks of this size are kept.
  EXPECT_EQ(mallocs.sum(), (Ops{.loads = 1 + 2 * 32, .stores = 32, .updates = 4}));
  // One lane loads whether there is room. Every lane loads the tag of its block, and loads and stores the turn of its
  // slot.
  EXPECT_EQ(rig.counted_free(mallocs.blocks).sum(), (Ops{.loads = 1 + 2 * 32, .stores = 32, .updates = 4}));
}

template <class A>
class XMallocTest : public ::testing::Test {};
using Forms = ::testing::Types<XMallocReworked, XMallocDeviceHeapReworked>;
TYPED_TEST_SUITE(XMallocTest, Forms);

TYPED_TEST(XMallocTest, ServesAMixedWarp) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(50); ++seed) {
    Rig<TypeParam> rig(4 << 20, {}, seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::expect_mixed_warp_served(rig);
  }
}

TYPED_TEST(XMallocTest, ReusesTheParentWhenItsLastPieceIsGone) {
  // A Superblock has two Basicblocks of 2 KiB, and a warp's 32 pieces of 16 bytes take one Basicblock. The pool has
  // room for one Superblock. A device heap promises only 7/16 of its bytes to one request, so it gets room for two.
  constexpr std::uint32_t most_superblocks = std::is_same_v<TypeParam, XMallocReworked> ? 1 : 2;
  xmalloc::Parameters parameters{.smallest_block_bytes = 2048, .blocks_per_superblock = 2};
  Rig<TypeParam> rig((most_superblocks == 1 ? 6 : 10) * 1024, parameters, 3);
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 16));
    // A warp whose lanes do not come together may need more Basicblocks than there are. But every round must serve some
    // lanes.
    ASSERT_GT(count_served(blocks), 0u) << round;
    std::shuffle(blocks.begin(), blocks.end(), random);
    rig.free(blocks, 7);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    ASSERT_LE(rig.allocator.superblocks(rig.stream()), most_superblocks);
  }
}

TYPED_TEST(XMallocTest, CutsAGroupWhoseSumExceedsTheLargestBasicblock) {
  Rig<TypeParam> rig(16 << 20);
  for (std::uint64_t bytes : {240, 248, 255}) {
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(64, bytes));
    EXPECT_EQ(count_served(blocks), 64u);
    rig.free(blocks);
  }
  xmalloc::Parameters narrow{.coalescing_limit_bytes = 4096, .smallest_block_bytes = 64};
  Rig<TypeParam> small(4 << 20, narrow);
  // The largest Basicblock has 1024 bytes.
  const std::vector<void*> blocks = small.malloc(std::vector<std::uint64_t>(64, 1000));
  EXPECT_EQ(count_served(blocks), 64u);
  small.free(blocks);
  EXPECT_EQ(small.allocator.broken_invariant(small.stream()), "");
}

TYPED_TEST(XMallocTest, ReturnsFreeSuperblocksBeforeItAnswersNull) {
  Rig<TypeParam> rig(300 * 1024);
  for (int round = 0; round < 3; ++round) {
    const std::vector<void*> small = rig.malloc(std::vector<std::uint64_t>(300, 200));
    EXPECT_GT(count_served(small), 0u);  // groups of other sizes need Basicblocks of other classes
    rig.free(small);
    EXPECT_GT(rig.allocator.superblocks(rig.stream()), 0u);
    const std::vector<void*> large = rig.malloc({250 * 1024});  // needs five sixths of the pool
    EXPECT_EQ(count_served(large), 1u);
    EXPECT_EQ(rig.allocator.superblocks(rig.stream()), 0u);
    rig.free(large);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

// Lets one lane take blocks until it gets null.
template <class A>
std::vector<void*> take_all(Rig<A>& rig, std::uint64_t bytes) {
  std::vector<void*> blocks;
  for (void* block = rig.malloc({bytes})[0]; block != nullptr; block = rig.malloc({bytes})[0]) blocks.push_back(block);
  return blocks;
}

TYPED_TEST(XMallocTest, TwoSuperblocksFillTheGapOfOneOfTheNextClass) {
  // Superblocks have four Basicblocks of 128 or 256 bytes.
  const auto small = small_heap<TypeParam>();
  Rig<TypeParam> fresh(small.pool_bytes, small.parameters);
  const std::size_t most = take_all(fresh, 100).size();
  Rig<TypeParam> rig(small.pool_bytes, small.parameters);
  std::vector<void*> kept;
  std::vector<void*> freed;
  for (std::uint32_t superblocks = 0; superblocks < 6; ++superblocks) {
    for (int i = 0; i < 4; ++i) kept.push_back(rig.malloc({100})[0]);
    for (int i = 0; i < 4; ++i) freed.push_back(rig.malloc({200})[0]);
  }
  ASSERT_EQ(count_served(kept), kept.size());
  ASSERT_EQ(count_served(freed), freed.size());
  rig.free(freed);
  EXPECT_EQ(kept.size() + take_all(rig, 100).size(), most);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

template <class A>
void churn_on_tiny_heaps(xmalloc::Parameters parameters, std::uint64_t usual_seeds) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(usual_seeds); ++seed) {
    const std::size_t pool_bytes = seed % 2 == 0 ? 4 << 10 : 12 << 10;
    Rig<A> rig(pool_bytes, parameters, seed);
    testing::churn_on_tiny_heap(rig, seed);
    if (::testing::Test::HasFatalFailure()) return;
    // All but 512 bytes of the pool can be taken in one piece again.
    ASSERT_NE(rig.malloc({pool_bytes - 512})[0], nullptr) << "seed " << seed;
  }
}

TYPED_TEST(XMallocTest, SurvivesSeededSchedulesOnTinyHeaps) {
  churn_on_tiny_heaps<TypeParam>(small_heap<TypeParam>().parameters, 150);
}
TYPED_TEST(XMallocTest, SurvivesSeededSchedulesWithoutCoalescing) {
  xmalloc::Parameters parameters = small_heap<TypeParam>().parameters;
  parameters.coalescing = false;
  churn_on_tiny_heaps<TypeParam>(parameters, 100);
}
TYPED_TEST(XMallocTest, SurvivesSeededSchedulesWithoutSuperblocks) {
  xmalloc::Parameters parameters = small_heap<TypeParam>().parameters;
  parameters.superblocks = false;
  churn_on_tiny_heaps<TypeParam>(parameters, 100);
}

}  // namespace
}  // namespace allocbench
