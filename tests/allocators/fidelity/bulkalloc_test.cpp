// These tests compare the operations of BulkAlloc on shared words with numbers worked out by hand from Gelado & Garland
// 2019, as bulkalloc.hpp reconstructs the algorithm.
#include "allocators/bulkalloc/bulkalloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

using Rig = FidelityRig<BulkAlloc>;

// 256 pages: the root has height 8; four chunks, one arena.
constexpr std::size_t mebibyte = std::size_t{1} << 20;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Semaphore: word 1 load, 1 compare-exchange.
constexpr Ops wait{.loads = 1, .compare_exchanges = 1};
constexpr Ops signal{.updates = 1};
// Node 1 load, 1 compare-exchange.
constexpr Ops take_node{.loads = 1, .compare_exchanges = 1};
// Node and parent locked and unlocked: 4; three nodes looked at.
constexpr Ops correct_parent{.loads = 3, .updates = 4};
// One more is locked and unlocked, three more looked at.
constexpr Ops correct_next{.loads = 3, .updates = 2};
constexpr Ops change{.updates = 1};
// Buddy available 1 OR; its parent becomes partial.
const Ops split_root = Ops{.updates = 1} + correct_parent + change + signal;
// The grandparent is partial already.
const Ops split = split_root + correct_next;
// A unit 1 load, 1 subtraction; one of twice the size is expected 1 addition; the buddy; the parent locked, changed,
// unlocked.
const Ops merge = Ops{.loads = 1, .updates = 2} + take_node + Ops{.updates = 3};
// The root becomes available 1 OR.
const Ops open_root = Ops{.updates = 1} + signal;
// Exchange and store.
constexpr Ops lock_and_unlock{.stores = 1, .updates = 1};
// First link 1 load; next, previous, first 3 stores. A bin also has a place.
constexpr Ops insert_chunk{.loads = 1, .stores = 3};
constexpr Ops insert_bin{.loads = 1, .stores = 4};
// Next and previous 2 loads; first 1 store.
constexpr Ops remove_chunk{.loads = 2, .stores = 1};
constexpr Ops remove_bin{.loads = 2, .stores = 2};
// A header: 16 words of bits.
constexpr Ops bits{.stores = 16};
// Reader enters and leaves 2 additions; first bin 1 load; its free slots 1 load, 1 compare-exchange.
constexpr Ops claim{.loads = 2, .updates = 2, .compare_exchanges = 1};
// First chunk, its free bins, a word of bits 3 loads; bit 1 OR, free bins 1 subtraction; cut: free 1 load, first and
// previous 2 stores; whole chunks 1 load.
const Ops take_bin = lock_and_unlock + Ops{.loads = 5, .stores = 2, .updates = 2};
// The bin that owns the block 1 load, bit 1 AND, free slots 1 load and 1 compare-exchange.
constexpr Ops give_slot{.loads = 2, .updates = 1, .compare_exchanges = 1};

TEST(BulkAllocFidelity, OnePageAndItsHalves) {
  Rig rig(mebibyte);
  const Calls calls = rig.counted_malloc({4096});
  // Heights 0 to 7 have nothing: the lane makes a batch of each. The root is taken and split eight times. Height 1
  // store.
  EXPECT_EQ(calls.of_lane[0], wait * 9 + take_node + split_root + split * 7 + (Ops{.stores = 1}));
  const bulkalloc::Inspection tree(rig.stream(), rig.allocator.small());
  for (std::uint32_t height = 0; height < 8; ++height) EXPECT_EQ(tree.free_blocks(height), 1u) << height;
  // Height 1 load; eight merges; the root.
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.loads = 1}) + merge * 8 + open_root);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, ThePageBesideIt) {
  Rig rig(mebibyte);
  rig.malloc({4096});
  // Eight partial nodes from the root on, a busy page, the other one. Its parent has no room any more; the next one
  // has.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0],
            wait + (Ops{.loads = 8 + 1}) + take_node + correct_parent + change + correct_next + (Ops{.stores = 1}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, TheFirstSmallBlockAndTheLast) {
  Rig rig(mebibyte);
  const Calls calls = rig.counted_malloc({16});
  // Tree: heights 6 and 7 have nothing; the root, split twice.
  const Ops chunk = wait * 3 + take_node + split_root + split;
  // Header; listed as a whole chunk 1 addition.
  const Ops add_chunk = bits + (Ops{.stores = 1}) + lock_and_unlock + insert_chunk + (Ops{.updates = 1});
  // No longer whole 1 subtraction.
  const Ops bin = wait + chunk + add_chunk + signal + take_bin + (Ops{.updates = 1});
  // Free slots and list 2 stores.
  const Ops add_bin = bits + (Ops{.stores = 2}) + lock_and_unlock + insert_bin;
  // The lane keeps a slot of the bin that it made: no claim, 1 OR.
  EXPECT_EQ(calls.of_lane[0], wait + bin + add_bin + signal + (Ops{.updates = 1}));
  EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_bins(0), 61u);

  // The other 255 units; place 1 load.
  const Ops retire = wait + lock_and_unlock + (Ops{.loads = 1}) + remove_bin;
  // Queue 1 load, link 1 store, 1 compare-exchange; mark set and cleared, queue taken 3 exchanges; mutex; epoch 1 load
  // and 1 exchange; readers that left 1 load and 1 store; link 1 load.
  const Ops readers = Ops{.loads = 4, .stores = 2, .updates = 4, .compare_exchanges = 1} + lock_and_unlock;
  // List and place 2 loads.
  const Ops settle = Ops{.loads = 2} + lock_and_unlock;
  // Bit and count 2 updates; the units of all 62 bins, looked at before; the tree expects a chunk 1 update; two merges
  // and the root.
  const Ops give_bin =
      lock_and_unlock + (Ops{.loads = 1, .updates = 3}) + signal + wait + remove_chunk + merge * 2 + open_root;
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_slot + retire + readers + settle + give_bin);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, ASmallBlockAmongOthers) {
  Rig rig(mebibyte);
  rig.malloc({16});
  const Calls calls = rig.counted_malloc({16});
  // The lane's first slot is in use: 2 ORs.
  EXPECT_EQ(calls.of_lane[0], wait + claim + (Ops{.updates = 2}));
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_slot + signal);
}

TEST(BulkAllocFidelity, AWarp) {
  Rig rig(mebibyte);
  rig.malloc({16});
  const Calls calls = rig.warp_mallocs(16);
  // One lane waits and claims for all; then each begins at a slot of its own, of which one is in use.
  EXPECT_EQ(calls.sum(), wait + claim + (Ops{.updates = 32 + 1}));
  EXPECT_EQ(std::set<void*>(calls.blocks.begin(), calls.blocks.end()).size(), 32u);
  // Each lane: owner of the block 1 load, bit 1 AND. One lane: free slots, signal.
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(),
            (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.loads = 1, .compare_exchanges = 1}) + signal);
}

// Nobody keeps more of a batch than it has: ten groups of three lanes and one of two make a bin each.
TEST(BulkAllocFidelity, AWarpOfBlocksOfWhichABinHasThree) {
  Rig rig(mebibyte);
  const std::vector<void*> blocks = rig.warp_mallocs(1024).blocks;
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
  EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_bins(0), 62u - 11u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// Sizes come one after the other: the lanes that make a bin for each do not take the bins together.
TEST(BulkAllocFidelity, AWarpOfTwoSizes) {
  Rig rig(mebibyte);
  rig.malloc({16});
  std::vector<std::uint64_t> sizes(32, 32);
  for (std::size_t lane = 1; lane < sizes.size(); lane += 2) sizes[lane] = 64;
  const Calls calls = rig.counted_malloc(sizes);
  const Ops bin = wait + take_bin;
  const Ops add_bin = bits + (Ops{.stores = 2}) + lock_and_unlock + insert_bin;
  // Each lane has a slot of its group's bin: 1 OR.
  EXPECT_EQ(calls.sum(), (wait + bin + add_bin + signal) * 2 + (Ops{.updates = 32}));
  EXPECT_EQ(std::set<void*>(calls.blocks.begin(), calls.blocks.end()).size(), 32u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, AFullBin) {
  Rig rig(mebibyte);
  for (int i = 0; i < 7; ++i) rig.warp_mallocs(16);
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(31, 16));
  // 255 slots are in use. The last one: seven words of set bits and what the search passes depend on the lane; not
  // more than one OR per word and one more. The bin is unlinked: lock, free slots and place 2 loads, links, place.
  const Calls last = rig.counted_malloc({16});
  const Ops unlink = lock_and_unlock + (Ops{.loads = 2}) + remove_bin;
  const Ops readers = Ops{.loads = 4, .stores = 2, .updates = 4, .compare_exchanges = 1} + lock_and_unlock;
  // List, place, free slots 3 loads; place 1 store.
  const Ops settle = Ops{.loads = 3, .stores = 1} + lock_and_unlock;
  Ops expected = wait + claim + unlink + readers + settle;
  EXPECT_LE(last.of_lane[0].updates, expected.updates + 9);
  expected.updates = last.of_lane[0].updates;
  EXPECT_EQ(last.of_lane[0], expected);
  // A slot of a full bin comes back: signal; under the lock 1 compare-exchange, place 1 load; listed again.
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0],
            give_slot + signal + lock_and_unlock + (Ops{.loads = 1}) + insert_bin);
  rig.free(blocks);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, AnExhaustedPool) {
  Rig rig(mebibyte);
  EXPECT_EQ(rig.malloc({mebibyte})[0], rig.arena().pool().base);
  // Nine heights: a batch that nobody can make, which is not expected any more.
  const Calls page = rig.counted_malloc({4096});
  EXPECT_EQ(page.blocks[0], nullptr);
  EXPECT_EQ(page.of_lane[0], (wait + signal) * 9);
  // Slots, bins, heights 6 to 8; then one look each for a unit that came back meanwhile.
  const Calls small = rig.counted_malloc({16});
  EXPECT_EQ(small.blocks[0], nullptr);
  EXPECT_EQ(small.of_lane[0], (wait + signal) * 5 + (Ops{.loads = 2}));
  EXPECT_EQ(rig.malloc(std::vector<std::uint64_t>(32, 64)), std::vector<void*>(32, nullptr));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
