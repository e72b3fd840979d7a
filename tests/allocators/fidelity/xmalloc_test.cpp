// These tests compare the operations of published XMalloc on shared words with numbers worked out by hand from Huang
// et al. 2010 and the public code.
#include "allocators/xmalloc/xmalloc.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::size_t MiB = 1 << 20;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// The tests use one free list per class, as in the paper. With several lists, the clock would choose.
template <class A>
typename A::Parameters one_list() {
  typename A::Parameters parameters;
  parameters.free_lists = 1;
  return parameters;
}

// A pop from an empty list loads the head and the tail.
const Ops empty_pop{.loads = 2};
// A pop from a list with entries also loads the slot and moves the head by a compare-exchange.
const Ops pop{.loads = 3, .compare_exchanges = 1};
const Ops full_push{.loads = 2};
// The first push loads the head, the tail and the slot of the tail, and moves the tail by a compare-exchange.
const Ops first_push{.loads = 3, .compare_exchanges = 1};
// A later push makes one more compare-exchange, which brings the value before it into its slot.
const Ops push = first_push + Ops{.compare_exchanges = 1};

// The lane locks (1 exchange) and loads the head of the list and its size. It takes the block out of the list (3 loads,
// 1 store) and loads what is behind it. The rest becomes a block (5 stores) and enters the list (1 load, 3 stores). The
// lane marks its block as used (1 store) and unlocks (1 store).
const Ops split_memoryblock{.loads = 7, .stores = 11, .updates = 1};
// The lane stores the class, a header for each Basicblock, and the word of the Superblock.
Ops cut_superblock(std::uint64_t blocks) { return split_memoryblock + Ops{.stores = 2 + blocks}; }
// The lane loads the word. Each Basicblock takes a compare-exchange and a push. The first push finds an empty ring.
Ops fill_list(std::uint64_t blocks) {
  return Ops{.loads = 1, .compare_exchanges = blocks} + first_push + push * (blocks - 1);
}
Ops refill(std::uint64_t blocks) { return empty_pop * 2 + cut_superblock(blocks) + fill_list(blocks); }

const Ops read_tag{.loads = 1};
const Ops write_tag{.stores = 1};

TEST(XMallocFidelity, OneLane) {
  FidelityRig<XMalloc> rig(4 * MiB, one_list<XMalloc>());
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], refill(32) + pop);
  const Calls second = rig.counted_malloc({16});
  EXPECT_EQ(second.of_lane[0], pop);
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], read_tag + push);
}

TEST(XMallocDeviceHeapFidelity, OneLane) {
  FidelityRig<XMallocDeviceHeap> rig(4 * MiB, one_list<XMallocDeviceHeap>());
  // The Superblock has 16 Basicblocks. The operations of the device heap are not counted.
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], empty_pop * 2 + (Ops{.stores = 2 + 16}) + fill_list(16) + pop);
  const Calls second = rig.counted_malloc({16});
  EXPECT_EQ(second.of_lane[0], pop);
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], read_tag + push);
}

TEST(XMallocFidelity, AWarpTakesOneBlockAndFreesItLaneByLane) {
  FidelityRig<XMalloc> rig(4 * MiB, one_list<XMalloc>());
  static_cast<void>(rig.warp_mallocs(16));
  const Calls calls = rig.warp_mallocs(16);
  // Lane 0 stores the number of pieces. Each lane stores the header of its piece.
  EXPECT_EQ(calls.of_lane[0], pop + write_tag + (Ops{.stores = 1}));
  for (std::size_t lane = 1; lane < 32; ++lane) EXPECT_EQ(calls.of_lane[lane], write_tag) << lane;
  const Calls frees = rig.counted_free(calls.blocks);
  // Each lane loads and marks its header, and subtracts from the count of the parent. The last lane frees the parent.
  EXPECT_EQ(frees.sum(), (read_tag + write_tag + (Ops{.updates = 1})) * 32 + read_tag + push);
}

// The operations are those of XMalloc over its own heap.
TEST(XMallocDeviceHeapFidelity, AWarpTakesOneBlockAndFreesItLaneByLane) {
  FidelityRig<XMallocDeviceHeap> rig(4 * MiB, one_list<XMallocDeviceHeap>());
  static_cast<void>(rig.warp_mallocs(16));
  const Calls calls = rig.warp_mallocs(16);
  EXPECT_EQ(calls.sum(), pop + (Ops{.stores = 1}) + write_tag * 32);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (read_tag + write_tag + (Ops{.updates = 1})) * 32 + read_tag + push);
}

// In section IV, every lane goes through the critical section, and one lane succeeds at a time.
TEST(XMallocFidelity, AWarpWithoutCoalescingNeedsUpToHalfTheSquareOfItsLanes) {
  auto parameters = one_list<XMalloc>();
  parameters.coalescing = false;
  FidelityRig<XMalloc> rig(4 * MiB, parameters);
  rig.counted_free(rig.counted_malloc(std::vector<std::uint64_t>(32, 16)).blocks);
  const Ops all = rig.warp_mallocs(16).sum();
  EXPECT_EQ(all.compare_exchanges - all.lost, 32u);
  EXPECT_EQ(all.compare_exchanges, 32u * 33 / 2);
}

// Returns the parameters of a heap whose Superblocks have four Basicblocks and whose lists have four entries.
XMalloc::Parameters tiny() {
  auto parameters = small_heap<XMalloc>().parameters;
  parameters.free_lists = 1;
  return parameters;
}

TEST(XMallocFidelity, AFullListSendsTheBlockToItsSuperblock) {
  FidelityRig<XMalloc> rig(64 << 10, tiny());
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(rig.counted_malloc({16}).blocks[0]);
  // Two Basicblocks of the second Superblock are in use, and two are in the list.
  EXPECT_EQ(rig.counted_free({blocks[0]}).of_lane[0], read_tag + push);
  EXPECT_EQ(rig.counted_free({blocks[1]}).of_lane[0], read_tag + push);
  // The lane loads the word of the Superblock and changes it by a compare-exchange. The first free block of a
  // Superblock brings the Superblock into the buffer.
  const Ops give_back{.loads = 1, .compare_exchanges = 1};
  EXPECT_EQ(rig.counted_free({blocks[2]}).of_lane[0], read_tag + full_push + give_back + first_push);
  EXPECT_EQ(rig.counted_free({blocks[3]}).of_lane[0], read_tag + full_push + give_back);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(XMallocFidelity, AnExhaustedPoolIsAskedSixtyFourTimes) {
  FidelityRig<XMalloc> rig(16 << 10, tiny());
  std::size_t served = 0;
  while (rig.counted_malloc({16}).blocks[0] != nullptr) ++served;
  EXPECT_EQ(served, 4u * 30);  // a Superblock and its Memoryblock's header take 34 of 1,023 units
  const Calls calls = rig.counted_malloc({16});
  // The list and the buffer are empty. The lane locks (1 exchange), finds that a Memoryblock of three units is too
  // small (3 loads), and unlocks (1 store).
  EXPECT_EQ(calls.of_lane[0], (empty_pop * 2 + Ops{.loads = 3, .stores = 1, .updates = 1}) * 64);
}

// The device heap refuses, and its operations are not counted.
TEST(XMallocDeviceHeapFidelity, AnExhaustedPoolIsAskedSixtyFourTimes) {
  auto parameters = small_heap<XMallocDeviceHeap>().parameters;
  parameters.free_lists = 1;
  FidelityRig<XMallocDeviceHeap> rig(16 << 10, parameters);
  std::size_t served = 0;
  while (rig.counted_malloc({16}).blocks[0] != nullptr) ++served;
  EXPECT_GT(served, 0u);
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], empty_pop * 2 * 64);
}

}  // namespace
}  // namespace allocbench
