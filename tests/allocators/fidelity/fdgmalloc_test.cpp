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

// Our form takes a lock in place of lock step (1 exchange, 1 store). It loads the address of the header, which the
// authors' code keeps in a register.
constexpr Ops enter_and_leave{.loads = 1, .stores = 1, .updates = 1};
// The first request of a warp stores the peak, the participating and the active lanes, the list, the SuperBlock, 32
// request words, and the address of the header.
constexpr Ops start{.stores = 5 + 32 + 1};
// The first request of a kernel adds its lanes by an OR.
constexpr Ops join{.updates = 1};
// A lane stores its own request and loads all 32 requests.
constexpr Ops add_up{.loads = 32, .stores = 1};
// A lane loads the pointer and the fill level of the SuperBlock. The worker stores the new fill level.
constexpr Ops read_superblock{.loads = 2};
constexpr Ops move_fill{.stores = 1};
// A record loads the list and its index and stores the entry and the index. A record in a new node loads the list and
// stores previous, list, entry and index.
constexpr Ops record{.loads = 2, .stores = 2};
constexpr Ops record_in_new_node{.loads = 1, .stores = 4};
// A new SuperBlock takes stores of its fill level, which is 0, and of its pointer.
constexpr Ops new_superblock{.stores = 2};

TEST(FdgMallocFidelity, OneLane) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], enter_and_leave + start + join + add_up + read_superblock +
                                                     record_in_new_node + new_superblock + move_fill);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], enter_and_leave + join + add_up + read_superblock + move_fill);
  // The lane locks and unlocks. It loads the address of the header and the list, and leaves the active lanes (1 AND).
  // For one block in one node it loads the index, the entry and previous. Finally, it stores the header's address.
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
  // Each lane loads the address of the header and leaves the active lanes (1 AND). The last lane locks, unlocks, and
  // frees one block and one node.
  EXPECT_EQ(rig.counted_release(32).sum(), (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.stores = 1, .updates = 1}) +
                                               (Ops{.loads = 1 + 3, .stores = 1}));
}

TEST(FdgMallocFidelity, LanesThatDoNotCallKeepTheirRequests) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  rig.warp_mallocs(64);
  // Only lanes 0 to 4 request. The words of the other 27 lanes still have 64 bytes and count only for the total. So
  // lane 4 begins behind four requests of 16 bytes.
  const Calls few = rig.counted_malloc(std::vector<std::uint64_t>(5, 16));
  EXPECT_EQ(static_cast<std::byte*>(few.blocks[4]) - static_cast<std::byte*>(few.blocks[0]), 4 * 16);
  // The other 31 words of 272 bytes are more than a SuperBlock, so the call of one lane gets a block of the device
  // heap.
  rig.warp_mallocs(272);
  const Calls alone = rig.counted_malloc({16});
  EXPECT_EQ(alone.of_lane[0], enter_and_leave + join + add_up + record);
}

TEST(FdgMallocFidelity, AFullSuperBlock) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  // A SuperBlock has 8,188 bytes, so two requests of 4,080 bytes fit. The third takes a new SuperBlock and loads the
  // fill level of both.
  rig.counted_malloc({4080});
  EXPECT_EQ(rig.counted_malloc({4080}).of_lane[0], enter_and_leave + join + add_up + read_superblock + move_fill);
  EXPECT_EQ(rig.counted_malloc({4080}).of_lane[0], enter_and_leave + join + add_up + read_superblock + record +
                                                       new_superblock + (Ops{.loads = 1}) + move_fill);
}

TEST(FdgMallocFidelity, LanesThatDoNotFitKeepTheirOffset) {
  FidelityRig<FdgMalloc> rig(1 << 20);
  rig.counted_malloc({4096});
  // The lanes request 7,680 bytes together, and 4,092 are left. Lanes 0 to 16 use these, and the others begin at offset
  // 17 * 240 of the new block.
  const Calls calls = rig.warp_mallocs(240);
  for (std::size_t lane = 0; lane < 17; ++lane) EXPECT_EQ(calls.of_lane[lane], add_up + read_superblock) << lane;
  for (std::size_t lane = 17; lane < 31; ++lane) {
    EXPECT_EQ(calls.of_lane[lane], add_up + read_superblock + (Ops{.loads = 1})) << lane;
  }
  EXPECT_EQ(static_cast<std::byte*>(calls.blocks[31]) - static_cast<std::byte*>(calls.blocks[17]), 14 * 240);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(calls.blocks[17]) % 16, 0u);
  const Calls next = rig.counted_malloc({16});
  // The next block lies behind that of lane 31, at offset 32 * 240 of the new block.
  EXPECT_EQ(static_cast<std::byte*>(next.blocks[0]) - static_cast<std::byte*>(calls.blocks[31]), 240);
}

TEST(FdgMallocFidelity, AFullListNode) {
  FidelityRig<FdgMalloc> rig(4 << 20, {.superblock_bytes = 256});
  rig.counted_malloc({240});
  for (int i = 1; i < 126; ++i) rig.counted_malloc({240});
  // The list has 126 SuperBlocks, and its node is full. The request also loads the index. A request on an empty list
  // does not load it.
  EXPECT_EQ(rig.counted_malloc({240}).of_lane[0], enter_and_leave + join + add_up + read_superblock +
                                                      record_in_new_node + (Ops{.loads = 1}) + new_superblock +
                                                      (Ops{.loads = 1}) + move_fill);
}

TEST(FdgMallocFidelity, AnExhaustedDeviceHeap) {
  FidelityRig<FdgMalloc> rig(64 << 10);
  for (int i = 0; i < 100; ++i) rig.counted_malloc({8176});
  const Calls calls = rig.counted_malloc({8176});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // There is no SuperBlock, so the request loads the pointer and stores null again.
  EXPECT_EQ(calls.of_lane[0], enter_and_leave + join + add_up + (Ops{.loads = 1, .stores = 1}));
}

}  // namespace
}  // namespace allocbench
