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

// The pool has 256 pages (so the root has height 8), four chunks and one arena.
constexpr std::size_t mebibyte = std::size_t{1} << 20;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// A wait loads the semaphore's word and changes it by a compare-exchange.
constexpr Ops wait{.loads = 1, .compare_exchanges = 1};
constexpr Ops signal{.updates = 1};
// The lane loads the node and takes it by a compare-exchange.
constexpr Ops take_node{.loads = 1, .compare_exchanges = 1};
// The lane locks and unlocks the node and its parent (4 updates) and loads three nodes.
constexpr Ops correct_parent{.loads = 3, .updates = 4};
// The lane locks and unlocks one more node and loads three more.
constexpr Ops correct_next{.loads = 3, .updates = 2};
constexpr Ops change{.updates = 1};
// An OR makes the buddy available. Its parent becomes partial.
const Ops split_root = Ops{.updates = 1} + correct_parent + change + signal;
// The lane also corrects the grandparent, which is partial already.
const Ops split = split_root + correct_next;
// The lane takes a unit (1 load, 1 subtraction), announces one of twice the size (1 addition), takes the buddy, and
// locks, changes and unlocks the parent (3 updates).
const Ops merge = Ops{.loads = 1, .updates = 2} + take_node + Ops{.updates = 3};
// An OR makes the root available.
const Ops open_root = Ops{.updates = 1} + signal;
// An exchange locks, and a store unlocks.
constexpr Ops lock_and_unlock{.stores = 1, .updates = 1};
// The lane loads the first link and stores the next, previous and first links. For a bin it also stores the place.
constexpr Ops insert_chunk{.loads = 1, .stores = 3};
constexpr Ops insert_bin{.loads = 1, .stores = 4};
// The lane loads the next and previous links and stores the first link. For a bin it also stores the place.
constexpr Ops remove_chunk{.loads = 2, .stores = 1};
constexpr Ops remove_bin{.loads = 2, .stores = 2};
// A header has 16 words of bits.
constexpr Ops bits{.stores = 16};
// The lane enters and leaves as a reader (2 additions). It loads the first bin and the free slots of the bin, and
// lowers them by a compare-exchange.
constexpr Ops claim{.loads = 2, .updates = 2, .compare_exchanges = 1};
// The lane loads the first chunk, its free bins and a word of bits. It sets the bit (1 OR) and subtracts from the free
// bins. To cut full chunks off the list, it loads the free bins and stores the first and previous links. Finally, it
// loads the number of whole chunks.
const Ops take_bin = lock_and_unlock + Ops{.loads = 5, .stores = 2, .updates = 2};
// The lane loads the bin that owns the block, clears the bit (1 AND), loads the free slots and raises them by a
// compare-exchange.
constexpr Ops give_slot{.loads = 2, .updates = 1, .compare_exchanges = 1};

TEST(BulkAllocFidelity, OnePageAndItsHalves) {
  Rig rig(mebibyte);
  const Calls calls = rig.counted_malloc({4096});
  // Heights 0 to 7 have no free block, so the lane makes a batch of each. It takes the root, splits eight times and
  // stores the height.
  EXPECT_EQ(calls.of_lane[0], wait * 9 + take_node + split_root + split * 7 + (Ops{.stores = 1}));
  const bulkalloc::Inspection tree(rig.stream(), rig.allocator.small());
  for (std::uint32_t height = 0; height < 8; ++height) EXPECT_EQ(tree.free_blocks(height), 1u) << height;
  // The lane loads the height, merges eight times and makes the root available.
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.loads = 1}) + merge * 8 + open_root);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, ThePageBesideIt) {
  Rig rig(mebibyte);
  rig.malloc({4096});
  // The lane loads eight partial nodes from the root on and a busy page, and takes the other page. Then the page's
  // parent has no room, but the next node above has.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0],
            wait + (Ops{.loads = 8 + 1}) + take_node + correct_parent + change + correct_next + (Ops{.stores = 1}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, TheFirstSmallBlockAndTheLast) {
  Rig rig(mebibyte);
  const Calls calls = rig.counted_malloc({16});
  // The tree has no free block of heights 6 and 7, so the lane takes the root and splits twice.
  const Ops chunk = wait * 3 + take_node + split_root + split;
  // The lane writes the header, lists the chunk and counts it as whole (1 addition).
  const Ops add_chunk = bits + (Ops{.stores = 1}) + lock_and_unlock + insert_chunk + (Ops{.updates = 1});
  // A subtraction counts the chunk as not whole.
  const Ops bin = wait + chunk + add_chunk + signal + take_bin + (Ops{.updates = 1});
  // The lane stores the free slots and the list of the bin.
  const Ops add_bin = bits + (Ops{.stores = 2}) + lock_and_unlock + insert_bin;
  // The lane keeps a slot of the bin that it made. So it makes no claim and only sets the bit (1 OR).
  EXPECT_EQ(calls.of_lane[0], wait + bin + add_bin + signal + (Ops{.updates = 1}));
  EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_bins(0), 61u);

  // The lane takes the other 255 units, loads the bin's place and unlinks the bin.
  const Ops retire = wait + lock_and_unlock + (Ops{.loads = 1}) + remove_bin;
  // The lane enqueues the bin (1 load, 1 store, 1 compare-exchange), sets and clears the mark and takes the queue (3
  // exchanges). Under the mutex it changes the epoch (1 load, 1 exchange) and the readers that left (1 load, 1 store).
  // It loads the link.
  const Ops readers = Ops{.loads = 4, .stores = 2, .updates = 4, .compare_exchanges = 1} + lock_and_unlock;
  // The lane loads the list and the place.
  const Ops settle = Ops{.loads = 2} + lock_and_unlock;
  // The lane clears the bit and raises the count (2 updates). After one load it takes the units of all 62 bins. The
  // tree expects a chunk (1 update). Two merges make the root available.
  const Ops give_bin =
      lock_and_unlock + (Ops{.loads = 1, .updates = 3}) + signal + wait + remove_chunk + merge * 2 + open_root;
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_slot + retire + readers + settle + give_bin);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, ASmallBlockAmongOthers) {
  Rig rig(mebibyte);
  rig.malloc({16});
  const Calls calls = rig.counted_malloc({16});
  // The lane's first slot is in use, so it makes 2 ORs.
  EXPECT_EQ(calls.of_lane[0], wait + claim + (Ops{.updates = 2}));
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_slot + signal);
}

TEST(BulkAllocFidelity, AWarp) {
  Rig rig(mebibyte);
  rig.malloc({16});
  const Calls calls = rig.warp_mallocs(16);
  // One lane waits and claims for all. Then each lane begins at its own slot, and one of these slots is in use.
  EXPECT_EQ(calls.sum(), wait + claim + (Ops{.updates = 32 + 1}));
  EXPECT_EQ(std::set<void*>(calls.blocks.begin(), calls.blocks.end()).size(), 32u);
  // Each lane loads the owner of its block and clears the bit (1 AND). One lane raises the free slots and signals.
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(),
            (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.loads = 1, .compare_exchanges = 1}) + signal);
}

// A group keeps no more slots than a bin has. So ten groups of three lanes and one group of two make a bin each.
TEST(BulkAllocFidelity, AWarpOfBlocksOfWhichABinHasThree) {
  Rig rig(mebibyte);
  const std::vector<void*> blocks = rig.warp_mallocs(1024).blocks;
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
  EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_bins(0), 62u - 11u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// The sizes are served one after the other, so the two lanes that make a bin do not take the bins together.
TEST(BulkAllocFidelity, AWarpOfTwoSizes) {
  Rig rig(mebibyte);
  rig.malloc({16});
  std::vector<std::uint64_t> sizes(32, 32);
  for (std::size_t lane = 1; lane < sizes.size(); lane += 2) sizes[lane] = 64;
  const Calls calls = rig.counted_malloc(sizes);
  const Ops bin = wait + take_bin;
  const Ops add_bin = bits + (Ops{.stores = 2}) + lock_and_unlock + insert_bin;
  // Each lane sets the bit of a slot of its group's bin (1 OR).
  EXPECT_EQ(calls.sum(), (wait + bin + add_bin + signal) * 2 + (Ops{.updates = 32}));
  EXPECT_EQ(std::set<void*>(calls.blocks.begin(), calls.blocks.end()).size(), 32u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, AFullBin) {
  Rig rig(mebibyte);
  for (int i = 0; i < 7; ++i) rig.warp_mallocs(16);
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(31, 16));
  // All slots but one are in use. The lane makes up to 9 ORs until it finds this slot: one per word, and one more. Then
  // the lane locks the list, loads the free slots and the place, and unlinks the bin.
  const Calls last = rig.counted_malloc({16});
  const Ops unlink = lock_and_unlock + (Ops{.loads = 2}) + remove_bin;
  const Ops readers = Ops{.loads = 4, .stores = 2, .updates = 4, .compare_exchanges = 1} + lock_and_unlock;
  // The lane loads the list, the place and the free slots, and stores the place.
  const Ops settle = Ops{.loads = 3, .stores = 1} + lock_and_unlock;
  Ops expected = wait + claim + unlink + readers + settle;
  EXPECT_LE(last.of_lane[0].updates, expected.updates + 9);
  expected.updates = last.of_lane[0].updates;
  EXPECT_EQ(last.of_lane[0], expected);
  // A slot of a full bin comes back. The lane signals, loads the place under the lock, and lists the bin again.
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0],
            give_slot + signal + lock_and_unlock + (Ops{.loads = 1}) + insert_bin);
  rig.free(blocks);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, AnExhaustedPool) {
  Rig rig(mebibyte);
  EXPECT_EQ(rig.malloc({mebibyte})[0], rig.arena().pool().base);
  // At each of nine heights, the lane announces a batch, cannot make it, and takes the announcement back.
  const Calls page = rig.counted_malloc({4096});
  EXPECT_EQ(page.blocks[0], nullptr);
  EXPECT_EQ(page.of_lane[0], (wait + signal) * 9);
  // The lane does this for slots, bins and heights 6 to 8. Then it makes two loads to find units that came back.
  const Calls small = rig.counted_malloc({16});
  EXPECT_EQ(small.blocks[0], nullptr);
  EXPECT_EQ(small.of_lane[0], (wait + signal) * 5 + (Ops{.loads = 2}));
  EXPECT_EQ(rig.malloc(std::vector<std::uint64_t>(32, 64)), std::vector<void*>(32, nullptr));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
