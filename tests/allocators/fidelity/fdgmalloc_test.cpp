// These tests compare the operations of published FDGMalloc on shared words with numbers worked out by hand from
// Widmer et al. 2013 and the authors' code.
#include "allocators/fdgmalloc/fdgmalloc.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// In place of lock step: lock 1 exchange, unlock 1 store. The address of the header, published in a register, 1 load.
constexpr Ops enter_and_leave{.loads = 1, .stores = 1, .updates = 1};
// Peak, participating and active lanes, list, SuperBlock, 32 request words; the address of the header.
constexpr Ops start{.stores = 5 + 32 + 1};
// The lanes of the first request of a kernel are added by 1 OR.
constexpr Ops join{.updates = 1};
// Own request 1 store; all requests 32 loads.
constexpr Ops add_up{.loads = 32, .stores = 1};
// Pointer and fill level of the SuperBlock; the worker's new fill level.
constexpr Ops read_superblock{.loads = 2};
constexpr Ops move_fill{.stores = 1};
// List and its index 2 loads, entry and index 2 stores. A new node instead: list 1 load; previous, list, entry, index.
constexpr Ops record{.loads = 2, .stores = 2};
constexpr Ops record_in_new_node{.loads = 1, .stores = 4};
// Fill level 0 and the pointer.
constexpr Ops new_superblock{.stores = 2};

TEST(FdgMallocFidelity, OneLane) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], enter_and_leave + start + join + add_up + read_superblock +
                                                     record_in_new_node + new_superblock + move_fill);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], enter_and_leave + join + add_up + read_superblock + move_fill);
  // Address of the header and list 2 loads; active lanes 1 AND. One block, one node: index, entry, previous 3 loads.
  // The address of the header 1 store.
  EXPECT_EQ(rig.counted_release(1).of_lane[0],
            (Ops{.stores = 1, .updates = 1}) + (Ops{.loads = 2 + 3, .stores = 1, .updates = 1}));
}

TEST(FdgMallocFidelity, AWarp) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  rig.warp_mallocs(16);
  const Calls calls = rig.warp_mallocs(16);
  // The highest lane works for all.
  for (std::size_t lane = 0; lane < 31; ++lane) EXPECT_EQ(calls.of_lane[lane], add_up + read_superblock) << lane;
  EXPECT_EQ(calls.of_lane[31], enter_and_leave + join + add_up + read_superblock + move_fill);
  for (std::size_t lane = 0; lane < 31; ++lane) {
    EXPECT_EQ(static_cast<std::byte*>(calls.blocks[lane]) + 16, calls.blocks[lane + 1]);
  }
  // Each lane: header 1 load, active lanes 1 AND; the lock as above; the last lane frees one block and one node.
  EXPECT_EQ(rig.counted_release(32).sum(), (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.stores = 1, .updates = 1}) +
                                               (Ops{.loads = 1 + 3, .stores = 1}));
}

TEST(FdgMallocFidelity, LanesThatDoNotCallKeepTheirRequests) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  rig.warp_mallocs(64);
  // A lane alone: behind it 31 words of 64 bytes stay, which count for the total only. Lanes 0 to 4: lane 4 begins
  // behind four requests.
  const Calls few = rig.counted_malloc(std::vector<std::uint64_t>(5, 16));
  EXPECT_EQ(static_cast<std::byte*>(few.blocks[4]) - static_cast<std::byte*>(few.blocks[0]), 4 * 16);
  // 31 words of 272 bytes are more than a SuperBlock: one lane's call is a block of the device heap.
  rig.warp_mallocs(272);
  const Calls alone = rig.counted_malloc({16});
  EXPECT_EQ(alone.of_lane[0], enter_and_leave + join + add_up + record);
}

TEST(FdgMallocFidelity, AFullSuperBlock) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  // 8,188 bytes: two requests of 4,080 fit, the third moves on and reads the fill level of both.
  rig.counted_malloc({4080});
  EXPECT_EQ(rig.counted_malloc({4080}).of_lane[0], enter_and_leave + join + add_up + read_superblock + move_fill);
  EXPECT_EQ(rig.counted_malloc({4080}).of_lane[0], enter_and_leave + join + add_up + read_superblock + record +
                                                       new_superblock + (Ops{.loads = 1}) + move_fill);
}

TEST(FdgMallocFidelity, LanesThatDoNotFitKeepTheirOffset) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  rig.counted_malloc({4096});
  // 32 * 240 = 7,680 bytes: 4,092 are left, which 17 lanes use; the others begin at offset 17 * 240 of the new block.
  const Calls calls = rig.warp_mallocs(240);
  for (std::size_t lane = 0; lane < 17; ++lane) EXPECT_EQ(calls.of_lane[lane], add_up + read_superblock) << lane;
  for (std::size_t lane = 17; lane < 31; ++lane) {
    EXPECT_EQ(calls.of_lane[lane], add_up + read_superblock + (Ops{.loads = 1})) << lane;
  }
  EXPECT_EQ(static_cast<std::byte*>(calls.blocks[31]) - static_cast<std::byte*>(calls.blocks[17]), 14 * 240);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(calls.blocks[17]) % 16, 0u);
  const Calls next = rig.counted_malloc({16});
  // Behind lane 31: 32 * 240 bytes of the new block.
  EXPECT_EQ(static_cast<std::byte*>(next.blocks[0]) - static_cast<std::byte*>(calls.blocks[31]), 240);
}

TEST(FdgMallocFidelity, AFullListNode) {
  FidelityRig<FdgMalloc> rig(4 << 20, {.superblock_bytes = 256});
  rig.counted_malloc({240});
  for (int i = 1; i < 126; ++i) rig.counted_malloc({240});
  // 126 SuperBlocks are recorded; the index 1 load more than in an empty list.
  EXPECT_EQ(rig.counted_malloc({240}).of_lane[0], enter_and_leave + join + add_up + read_superblock +
                                                      record_in_new_node + (Ops{.loads = 1}) + new_superblock +
                                                      (Ops{.loads = 1}) + move_fill);
}

TEST(FdgMallocFidelity, AnExhaustedDeviceHeap) {
  FidelityRig<FdgMalloc> rig(64 << 10);
  for (int i = 0; i < 100; ++i) rig.counted_malloc({8176});
  const Calls calls = rig.counted_malloc({8176});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // No SuperBlock: the pointer 1 load, and null is stored again.
  EXPECT_EQ(calls.of_lane[0], enter_and_leave + join + add_up + (Ops{.loads = 1, .stores = 1}));
}

}  // namespace
}  // namespace allocbench
