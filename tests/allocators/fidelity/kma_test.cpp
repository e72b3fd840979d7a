// These tests compare the operations of KMA on shared words with section 4.2 of Spliet et al. 2014, worked out by hand.
//
// Superblocks of 256 bytes have three blocks of 64 bytes and one bitmap word each.
#include "allocators/kma/kma.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr kma::Parameters small_superblocks{.superblock_bytes = 256};

Ops operator+(Ops a, const Ops& b) { return a += b; }

constexpr Ops find_active{.loads = 1};
// The lane makes the entry busy (1 compare-exchange). In the queue, it loads the head, the tail and the link, and moves
// the head (1 compare-exchange). It stores the bitmap word, loads and stores the state, and stores the entry.
constexpr Ops prepare{.loads = 3 + 1, .stores = 1 + 1 + 1, .compare_exchanges = 1 + 1};
constexpr Ops reserve{.loads = 1, .compare_exchanges = 1};
constexpr Ops take_bit{.loads = 1, .updates = 1};
constexpr Ops detach{.compare_exchanges = 1};
// A free loads the state for the block size, clears the bit (1 AND), and changes the count by a compare-exchange.
constexpr Ops put_back{.loads = 1, .updates = 1, .compare_exchanges = 1};
// The lane loads and stores its own link. It loads the tail, the tail's link and the tail again, and changes this link
// and the tail by compare-exchanges.
constexpr Ops enqueue{.loads = 4, .stores = 1, .compare_exchanges = 2};

TEST(KmaFidelity, OneLanePreparesReservesAndTakes) {
  FidelityRig<Kma> rig(4 * 256, small_superblocks);
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0], find_active + prepare + reserve + take_bit);
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0], find_active + reserve + take_bit);
}

TEST(KmaFidelity, AFullSuperblockIsDetachedAndQueuedWhenItIsFree) {
  FidelityRig<Kma> rig(4 * 256, small_superblocks);
  std::vector<void*> blocks;
  for (int i = 0; i < 2; ++i) blocks.push_back(rig.malloc({64})[0]);
  const Calls last = rig.counted_malloc({64});
  EXPECT_EQ(last.of_lane[0], find_active + reserve + detach + take_bit);
  EXPECT_EQ(rig.counted_free({blocks[0]}).of_lane[0], put_back);
  EXPECT_EQ(rig.counted_free({blocks[1]}).of_lane[0], put_back);
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0], put_back + enqueue);
}

TEST(KmaFidelity, AnActiveSuperblockStaysActiveWhenItIsFree) {
  FidelityRig<Kma> rig(4 * 256, small_superblocks);
  EXPECT_EQ(rig.counted_free(rig.malloc({64})).of_lane[0], put_back);
}

// A search reads full bitmap words one after the other. In a superblock of 64 KiB, the 65th block of 16 bytes has its
// bit in the third word.
TEST(KmaFidelity, TheSearchBeginsAtTheFirstWord) {
  FidelityRig<Kma> rig(4 << 16);
  rig.warp_mallocs(16);
  rig.warp_mallocs(16);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], find_active + reserve + take_bit + Ops{.loads = 2});
}

// Each lane reserves for itself. It wins one compare-exchange of the state and one bit, and tries again after losses.
TEST(KmaFidelity, EveryLaneOfAWarpReservesByItself) {
  FidelityRig<Kma> rig(4 << 16);
  rig.malloc({16});
  const Calls mallocs = rig.warp_mallocs(16);
  for (const Ops& ops : mallocs.of_lane) {
    EXPECT_EQ(ops.compare_exchanges - ops.lost, 1u);
    EXPECT_GE(ops.updates, 1u);
    EXPECT_EQ(ops.stores, 0u);
  }
  EXPECT_GT(mallocs.sum().lost, 0u) << "32 lanes on one state word";
  for (const Ops& ops : rig.counted_free(mallocs.blocks).of_lane) {
    EXPECT_EQ(ops.compare_exchanges - ops.lost, 1u);
    EXPECT_EQ(ops.updates, 1u);
  }
}

// The lane loads the entry and makes it busy (1 compare-exchange). In the queue, it loads the head, the tail, the link
// and the head again. Then it stores the entry.
TEST(KmaFidelity, AnExhaustedHeap) {
  FidelityRig<Kma> rig(2 * 256, small_superblocks);
  for (int i = 0; i < 3; ++i) rig.malloc({64});
  const Calls mallocs = rig.counted_malloc({64});
  EXPECT_EQ(mallocs.blocks[0], nullptr);
  EXPECT_EQ(mallocs.of_lane[0], (Ops{.loads = 5, .stores = 1, .compare_exchanges = 1}));
}

}  // namespace
}  // namespace allocbench
