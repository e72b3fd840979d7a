// These tests compare the operations of published Halloc on shared words with numbers worked out by hand from
// Adinetz & Pleiter 2014 and the authors' code.
#include "allocators/halloc/halloc.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::uint64_t slab_bytes = 64 << 10;

// At most 32 slabs, so a set is one word.
Halloc::Parameters small_slabs() {
  Halloc::Parameters parameters;
  parameters.slab_bytes = slab_bytes;
  parameters.slab_share = 1;
  return parameters;
}

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Head 1 load, counter of the size 1 addition.
constexpr Ops begin{.loads = 1, .updates = 1};
// Bits 1 OR, count of the slab 1 addition, length 1 OR.
constexpr Ops block{.updates = 3};
// Roomy 1 load, sparse 1 load, free 1 load and 1 AND. Slab: lock 1 exchange, counter 1 load, descriptor 4 stores,
// counter 1 addition, unlock 1 store.
constexpr Ops take_free_slab{.loads = 4, .stores = 5, .updates = 3};
// Lock 1 exchange, head 1 load, head found in advance 1 load.
constexpr Ops begin_replacement{.loads = 2, .updates = 1};
// Head 1 store; the next one 1 store; unlock 1 store.
constexpr Ops publish{.stores = 3};
// Kind of the slab 1 load; length 1 AND, bits 1 AND, count 1 subtraction.
constexpr Ops free_block{.loads = 1, .updates = 3};

TEST(HallocFidelity, OneLane) {
  FidelityRig<Halloc> rig(8 * slab_bytes, small_slabs());
  // The first request takes two slabs: the head and the next one.
  EXPECT_EQ(rig.counted_malloc({16}).of_lane[0], begin + begin_replacement + take_free_slab * 2 + publish + block);
  const Calls second = rig.counted_malloc({16});
  EXPECT_EQ(second.of_lane[0], begin + block);
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], free_block);
}

TEST(HallocFidelity, AWarp) {
  FidelityRig<Halloc> rig(8 * slab_bytes, small_slabs());
  for (const std::uint64_t bytes : {16, 128, 512}) {
    rig.counted_malloc({bytes});
    const Calls calls = rig.warp_mallocs(bytes);
    // Each lane: head, bits, length. Together: counter of the size, count of the slab.
    EXPECT_EQ(calls.sum(), (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 2})) << bytes;
    // Each lane: kind, length, bits. Together: count of the slab.
    EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 1}))
        << bytes;
  }
}

TEST(HallocFidelity, AWarpOfTwoSizes) {
  FidelityRig<Halloc> rig(8 * slab_bytes, small_slabs());
  rig.counted_malloc({16});
  rig.counted_malloc({256});
  std::vector<std::uint64_t> sizes(32, 16);
  for (std::size_t lane = 0; lane < 32; lane += 2) sizes[lane] = 256;
  const Calls calls = rig.counted_malloc(sizes);
  EXPECT_EQ(calls.sum(), (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 2}) * 2);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 1}) * 2);
}

// Slides Warp-Aggregated Atomic Increment: "up to 32x less atomics". The counter of the size and the count of the slab
// are raised once for 32 lanes, or by each of them; bits and lengths are each lane's own.
TEST(HallocFidelity, AggregationRaisesCountersOnceForAWarp) {
  HallocVaried::Parameters parameters;
  parameters.slab_bytes = slab_bytes;
  parameters.slab_share = 1;
  for (const bool aggregation : {true, false}) {
    parameters.aggregation = aggregation;
    FidelityRig<HallocVaried> rig(8 * slab_bytes, parameters);
    rig.counted_malloc({16});
    const Calls calls = rig.warp_mallocs(16);
    const std::uint64_t callers = aggregation ? 1 : 32;
    EXPECT_EQ(calls.sum(), (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 2}) * callers) << aggregation;
    EXPECT_EQ(rig.counted_free(calls.blocks).sum(),
              (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 1}) * callers)
        << aggregation;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

// h(c, 0) of blocks of 64 bytes, one chunk group each: T blocks lie between neighbours.
TEST(HallocFidelity, TheSpreadOfTheHashIsTheDistanceOfNeighbours) {
  HallocVaried::Parameters parameters;
  parameters.slab_bytes = slab_bytes;
  parameters.slab_share = 1;
  for (const std::uint32_t spread : {11u, 3u}) {
    parameters.hash_spread = spread;
    FidelityRig<HallocVaried> rig(8 * slab_bytes, parameters);
    const auto* const first = static_cast<std::byte*>(rig.malloc({64})[0]);
    const auto* const second = static_cast<std::byte*>(rig.malloc({64})[0]);
    const std::ptrdiff_t slab = static_cast<std::ptrdiff_t>(slab_bytes);
    EXPECT_EQ(((second - first) % slab + slab) % slab, std::ptrdiff_t{64} * spread) << spread;
  }
}

TEST(HallocFidelity, AHeadThatBecomesBusy) {
  FidelityRig<Halloc> rig(8 * slab_bytes, small_slabs());
  rig.counted_malloc({2048});
  // 32 blocks of 8 chunks; busy at 213 chunks, with the 27th block. The hash names different blocks until then.
  for (int i = 2; i < 27; ++i) EXPECT_EQ(rig.counted_malloc({2048}).of_lane[0], begin + block) << i;
  // The head's count 1 load: busy. Old head: lock 1 exchange, descriptor 1 store, counter 1 AND, unlock 1 store, busy
  // set 1 OR.
  const Ops detach{.loads = 1, .stores = 2, .updates = 3};
  EXPECT_EQ(rig.counted_malloc({2048}).of_lane[0],
            begin + block + begin_replacement + publish + detach + take_free_slab);
  EXPECT_EQ(rig.counted_malloc({2048}).of_lane[0], begin + block);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(HallocFidelity, ASlabThatEmpties) {
  FidelityRig<Halloc> rig(8 * slab_bytes, small_slabs());
  std::vector<void*> blocks;
  for (int i = 0; i < 27; ++i) blocks.push_back(rig.counted_malloc({2048}).blocks[0]);
  std::vector<Ops> frees;
  for (void* each : blocks) frees.push_back(rig.counted_free({each}).of_lane[0]);
  // 216 chunks. Busy (213): into the set 1 OR. Roomy (153): 1 OR, out of busy 1 AND, again 1 OR. Sparse (3 of 256) is
  // never crossed but with 0: lock 1 exchange, counter 1 load, no kind 1 OR, descriptor 1 store, free set 1 OR, unlock
  // 1 store.
  for (std::size_t i = 0; i < frees.size(); ++i) {
    Ops expected = free_block;
    if (i == 0) expected += {.updates = 1};
    if (216 - 8 * (i + 1) <= 153 && 216 - 8 * i > 153) expected += {.updates = 3};
    if (i == 26) expected += {.loads = 1, .stores = 2, .updates = 3};
    EXPECT_EQ(frees[i], expected) << i;
  }
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(HallocFidelity, AnExhaustedPool) {
  FidelityRig<Halloc> rig(slab_bytes, small_slabs());
  // The only slab stays the head beyond its threshold, until the hash finds it full.
  for (int i = 0; i < 32; ++i) ASSERT_NE(rig.counted_malloc({2048}).blocks[0], nullptr) << i;
  const Calls calls = rig.counted_malloc({2048});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // Two tries, 1 OR each, count 1 load: busy. Replacement: the head's count 1 load; no slab in roomy, sparse, free and
  // busy 4 loads; unlock 1 store.
  EXPECT_EQ(calls.of_lane[0],
            begin + (Ops{.loads = 1, .updates = 2}) + begin_replacement + (Ops{.loads = 5, .stores = 1}));
}

TEST(HallocFidelity, LargeRequestsTouchNoWordOfOurs) {
  Halloc::Parameters parameters;
  parameters.slab_bytes = slab_bytes;
  FidelityRig<Halloc> rig(16 * slab_bytes, parameters);
  const Calls calls = rig.counted_malloc({4096});
  ASSERT_NE(calls.blocks[0], nullptr);
  EXPECT_EQ(calls.of_lane[0], Ops{});
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], Ops{});
}

}  // namespace
}  // namespace allocbench
