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

// One free list per class, as in the paper; with several the clock chooses.
template <class A>
typename A::Parameters one_list() {
  typename A::Parameters parameters;
  parameters.free_lists = 1;
  return parameters;
}

// Head and tail: 2 loads.
const Ops empty_pop{.loads = 2};
// The slot besides 1 load; head 1 compare-exchange.
const Ops pop{.loads = 3, .compare_exchanges = 1};
const Ops full_push{.loads = 2};
// Head, tail, slot of the tail: 3 loads; tail 1 compare-exchange.
const Ops first_push{.loads = 3, .compare_exchanges = 1};
// The value before it goes into its slot: 1 compare-exchange more.
const Ops push = first_push + Ops{.compare_exchanges = 1};

// Lock 1 exchange; head of the list 1 load, size 1 load; out of the list 3 loads, 1 store; what is behind 1 load; the
// rest becomes a block by 3 + 2 stores and goes into the list by 1 load and 3 stores; marked as used 1 store; unlock 1
// store.
const Ops split_memoryblock{.loads = 7, .stores = 11, .updates = 1};
// Class 1 store, a header per Basicblock, word 1 store.
Ops cut_superblock(std::uint64_t blocks) { return split_memoryblock + Ops{.stores = 2 + blocks}; }
// Word 1 load; per Basicblock 1 compare-exchange and a push; the first finds an empty ring.
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
  // 16 Basicblocks; what the device heap does is not seen.
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], empty_pop * 2 + (Ops{.stores = 2 + 16}) + fill_list(16) + pop);
  const Calls second = rig.counted_malloc({16});
  EXPECT_EQ(second.of_lane[0], pop);
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], read_tag + push);
}

TEST(XMallocFidelity, AWarpTakesOneBlockAndFreesItLaneByLane) {
  FidelityRig<XMalloc> rig(4 * MiB, one_list<XMalloc>());
  static_cast<void>(rig.warp_mallocs(16));
  const Calls calls = rig.warp_mallocs(16);
  // Number of pieces 1 store, header of the piece 1 store.
  EXPECT_EQ(calls.of_lane[0], pop + write_tag + (Ops{.stores = 1}));
  for (std::size_t lane = 1; lane < 32; ++lane) EXPECT_EQ(calls.of_lane[lane], write_tag) << lane;
  const Calls frees = rig.counted_free(calls.blocks);
  // Header read and marked, count of the parent 1 subtraction; the last lane frees the parent.
  EXPECT_EQ(frees.sum(), (read_tag + write_tag + (Ops{.updates = 1})) * 32 + read_tag + push);
}

// As over its own heap.
TEST(XMallocDeviceHeapFidelity, AWarpTakesOneBlockAndFreesItLaneByLane) {
  FidelityRig<XMallocDeviceHeap> rig(4 * MiB, one_list<XMallocDeviceHeap>());
  static_cast<void>(rig.warp_mallocs(16));
  const Calls calls = rig.warp_mallocs(16);
  EXPECT_EQ(calls.sum(), pop + (Ops{.stores = 1}) + write_tag * 32);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (read_tag + write_tag + (Ops{.updates = 1})) * 32 + read_tag + push);
}

// Section IV: every lane goes through the critical section, of which one succeeds at a time.
TEST(XMallocFidelity, AWarpWithoutCoalescingNeedsUpToHalfTheSquareOfItsLanes) {
  auto parameters = one_list<XMalloc>();
  parameters.coalescing = false;
  FidelityRig<XMalloc> rig(4 * MiB, parameters);
  rig.counted_free(rig.counted_malloc(std::vector<std::uint64_t>(32, 16)).blocks);
  const Ops all = rig.warp_mallocs(16).sum();
  EXPECT_EQ(all.compare_exchanges - all.lost, 32u);
  EXPECT_EQ(all.compare_exchanges, 32u * 33 / 2);
}

// A heap of Superblocks of four Basicblocks and lists of four entries.
XMalloc::Parameters tiny() {
  auto parameters = small_heap<XMalloc>().parameters;
  parameters.free_lists = 1;
  return parameters;
}

TEST(XMallocFidelity, AFullListSendsTheBlockToItsSuperblock) {
  FidelityRig<XMalloc> rig(64 << 10, tiny());
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(rig.counted_malloc({16}).blocks[0]);
  // Two of the second Superblock's four are in use, two in the list.
  EXPECT_EQ(rig.counted_free({blocks[0]}).of_lane[0], read_tag + push);
  EXPECT_EQ(rig.counted_free({blocks[1]}).of_lane[0], read_tag + push);
  // Word 1 load, 1 compare-exchange; the first free block of its Superblock brings that into the buffer.
  const Ops give_back{.loads = 1, .compare_exchanges = 1};
  EXPECT_EQ(rig.counted_free({blocks[2]}).of_lane[0], read_tag + full_push + give_back + first_push);
  EXPECT_EQ(rig.counted_free({blocks[3]}).of_lane[0], read_tag + full_push + give_back);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(XMallocFidelity, AnExhaustedPoolIsAskedSixtyFourTimes) {
  FidelityRig<XMalloc> rig(16 << 10, tiny());
  std::size_t served = 0;
  while (rig.counted_malloc({16}).blocks[0] != nullptr) ++served;
  EXPECT_EQ(served, 4u * 30);  // Superblocks of 34 units, one of them the Memoryblock's header, in 1023
  const Calls calls = rig.counted_malloc({16});
  // List and buffer are empty; lock 1 exchange, a Memoryblock of three units does not do 3 loads, unlock 1 store.
  EXPECT_EQ(calls.of_lane[0], (empty_pop * 2 + Ops{.loads = 3, .stores = 1, .updates = 1}) * 64);
}

// The device heap below refuses; it has no words of ours.
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
