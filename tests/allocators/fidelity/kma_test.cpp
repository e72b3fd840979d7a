// These tests compare the operations of KMA on shared words with section 4.2 of Spliet et al. 2014, worked out by hand.
//
// Superblocks of 256 bytes: three blocks of 64 bytes and one bitmap word each.
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
// The entry becomes busy 1; queue: head, tail and link 3, head moves 1; bitmap word 1; state 1 read, 1 written;
// entry 1.
constexpr Ops prepare{.loads = 3 + 1, .stores = 1 + 1 + 1, .compare_exchanges = 1 + 1};
constexpr Ops reserve{.loads = 1, .compare_exchanges = 1};
constexpr Ops take_bit{.loads = 1, .updates = 1};
constexpr Ops detach{.compare_exchanges = 1};
// State read for the block size 1, bit 1 AND, count 1.
constexpr Ops put_back{.loads = 1, .updates = 1, .compare_exchanges = 1};
// Own link 1 read, 1 written; tail, its link, tail again 3; link 1, tail 1.
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

// Full bitmap words are read one after the other: of 64 KiB superblocks the word of the 65th block of 16 bytes is the
// third.
TEST(KmaFidelity, TheSearchBeginsAtTheFirstWord) {
  FidelityRig<Kma> rig(4 << 16);
  rig.warp_mallocs(16);
  rig.warp_mallocs(16);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], find_active + reserve + take_bit + Ops{.loads = 2});
}

// No lane reserves for another: each wins one compare-exchange of the state and one bit, and tries again after losses.
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

// The entry 1, busy 1; queue: head, tail, link and head again 4; entry 1.
TEST(KmaFidelity, AnExhaustedHeap) {
  FidelityRig<Kma> rig(2 * 256, small_superblocks);
  for (int i = 0; i < 3; ++i) rig.malloc({64});
  const Calls mallocs = rig.counted_malloc({64});
  EXPECT_EQ(mallocs.blocks[0], nullptr);
  EXPECT_EQ(mallocs.of_lane[0], (Ops{.loads = 5, .stores = 1, .compare_exchanges = 1}));
}

}  // namespace
}  // namespace allocbench
