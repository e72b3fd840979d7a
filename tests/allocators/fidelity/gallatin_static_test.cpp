// These tests compare the operations of Gallatin with the static counter on shared words with numbers worked out by
// hand from the authors' documents (gallatin_static.hpp).
#include "allocators/gallatin/gallatin_static.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Every thread makes two requests in one kernel. The kernel counts the operations of the second.
struct CountSecondMallocs {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, void** blocks,
                          simt::OperationCounts* counts) const {
    auto&& session = attach(allocator, thread);
    blocks[2 * thread.rank_in_grid()] = session.malloc(thread, bytes);
    simt::CountingThread<Thread> counting(thread);
    blocks[2 * thread.rank_in_grid() + 1] = session.malloc(counting, bytes);
    counts[thread.rank_in_grid()] = counting.counts();
  }
};

// The pool has 32 segments of 64 KiB. A block has 64 slices of 16 B to 1 KiB.
constexpr std::size_t pool_bytes = 2 << 20;
constexpr std::uint32_t slices = 64;

GallatinStatic::Parameters small_segments() {
  GallatinStatic::Parameters parameters;
  parameters.segment_bytes = 64 << 10;
  parameters.max_slice_bytes = 1024;
  parameters.heap.first_fit = true;
  return parameters;
}

// A request loads the slot's block and generation (1 load) and its counter (1 load).
constexpr Ops find_slot{.loads = 2};
constexpr Ops take{.updates = 1};
// The request loads the class's tree and the segment's class, subtracts from the free blocks, adds to the taken blocks,
// and stores the counter of the block. In the slot, it stores the retired and the new block and exchanges the counter.
// Two additions mark the begin and the end of the search.
constexpr Ops replace_block{.loads = 2, .stores = 3, .updates = 5};
// A free adds to the counter of the block. It gets the segment's class by a plain load, which is not counted.
constexpr Ops free_one{.updates = 1};

class SecondMallocs {
 public:
  Ops sum(FidelityRig<GallatinStatic>& rig, std::uint32_t threads, std::uint64_t bytes) {
    simt::Buffer<void*> blocks(2 * threads);
    simt::Buffer<simt::OperationCounts> counts(threads);
    simt::launch(rig.stream(), {1, threads}, CountSecondMallocs{}, rig.allocator, bytes, blocks.data(), counts.data());
    Ops all;
    for (const auto& each : counts.to_host(rig.stream())) {
      all += {each.loads, each.stores, each.updates, each.compare_exchanges, each.lost_exchanges};
    }
    return all;
  }
};

TEST(GallatinStaticFidelity, ARememberedSlotCostsOneAddition) {
  FidelityRig<GallatinStatic> rig(pool_bytes, small_segments());
  EXPECT_EQ(SecondMallocs().sum(rig, 1, 16), take);
  EXPECT_EQ(SecondMallocs().sum(rig, 1, 256), take);
}

TEST(GallatinStaticFidelity, AWarp) {
  GallatinStatic::Parameters parameters = small_segments();
  parameters.segment_bytes = 512 << 10;  // 512 slices per block
  FidelityRig<GallatinStatic> rig(32 * parameters.segment_bytes, parameters);
  EXPECT_EQ(SecondMallocs().sum(rig, 32, 100), take);
  const Calls calls = rig.warp_mallocs(100);
  EXPECT_EQ(calls.sum(), find_slot + take);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), free_one);
}

TEST(GallatinStaticFidelity, TilesOf16LanesHaveSlotsOfTheirOwn) {
  GallatinStatic::Parameters parameters = small_segments();
  parameters.tile_lanes = 16;
  FidelityRig<GallatinStatic> rig(pool_bytes, parameters);
  rig.warp_mallocs(16);
  EXPECT_EQ(rig.warp_mallocs(16).sum(), (find_slot + take) * 2);
}

TEST(GallatinStaticFidelity, WithoutMemoryEveryRequestFindsItsSlot) {
  GallatinStatic::Parameters parameters = small_segments();
  parameters.remember_slot = false;
  FidelityRig<GallatinStatic> rig(pool_bytes, parameters);
  EXPECT_EQ(SecondMallocs().sum(rig, 1, 16), find_slot + take);
}

TEST(GallatinStaticFidelity, TheEndOfABlock) {
  FidelityRig<GallatinStatic> rig(pool_bytes, small_segments());
  Calls calls;
  for (std::uint32_t i = 1; i < slices; ++i) calls = rig.counted_malloc({16});
  EXPECT_EQ(calls.of_lane[0], find_slot + take);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], find_slot + take + replace_block);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], find_slot + take);
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], free_one);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(GallatinStaticFidelity, SeveralSlices) {
  FidelityRig<GallatinStatic> rig(pool_bytes, small_segments());
  rig.counted_malloc({8000});
  const Calls calls = rig.counted_malloc({8000});
  // One addition counts the slices behind the first one, because the free names only the first slice.
  EXPECT_EQ(calls.of_lane[0], find_slot + take + Ops{.updates = 1});
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], free_one);
}

TEST(GallatinStaticFidelity, AnExhaustedPool) {
  FidelityRig<GallatinStatic> rig(pool_bytes, small_segments());
  while (rig.counted_malloc({1024}).blocks[0] != nullptr) {
  }
  // The class has one slot. The request loads the slot, which has no block, and the count of searches. It gets the
  // right to fill the slot (1 exchange) and loads the slot again. Two additions count when the search begins and ends.
  // The search loads the class's tree, locks (1 OR), loads the free segments, unlocks (1 AND), and loads the tree
  // again. The request stores "no block", gives up the right (1 store), and loads the count twice and the slot once.
  EXPECT_EQ(rig.counted_malloc({1024}).of_lane[0], (Ops{.loads = 3 + 3 + 3, .stores = 2, .updates = 1 + 2 + 2}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// The smallest class has 256 slots, all without a block. If each search of every thread went through all slots, the
// threads would exceed the limit of operations.
TEST(GallatinStatic, ManyThreadsGiveUpSoonInAFullPool) {
  FidelityRig<GallatinStatic> rig(std::size_t{16} << 20, {}, 1, 132, simt::StrategyKind::round_robin);
  const Calls all = rig.counted_malloc(std::vector<std::uint64_t>(2048, 8192), 256);
  EXPECT_EQ(std::count(all.blocks.begin(), all.blocks.end(), nullptr), 0);
  const Calls calls = rig.counted_malloc(std::vector<std::uint64_t>(512, 16), 256);
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 512);
  for (const Ops& ops : calls.of_lane) EXPECT_LT(ops.loads + ops.stores + ops.updates, 20'000u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
