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

// There are at most 32 slabs, so a set is one word.
Halloc::Parameters small_slabs() {
  Halloc::Parameters parameters;
  parameters.slab_bytes = slab_bytes;
  parameters.slab_share = 1;
  return parameters;
}

Ops operator+(Ops a, const Ops& b) { return a += b; }

// A request loads the head and adds to the counter of the size.
constexpr Ops begin{.loads = 1, .updates = 1};
// The lane sets the bits (1 OR), adds to the count of the slab, and sets the length (1 OR).
constexpr Ops block{.updates = 3};
// The lane loads the sets roomy, sparse and free, and takes a slab out of the free set (1 AND). In the slab, it locks
// (1 exchange), loads the counter, makes 4 stores to the descriptor, adds to the counter, and unlocks (1 store).
constexpr Ops take_free_slab{.loads = 4, .stores = 5, .updates = 3};
// The lane locks (1 exchange) and loads the head and the next head.
constexpr Ops begin_replacement{.loads = 2, .updates = 1};
// The lane stores the head and the next head, and unlocks (1 store).
constexpr Ops publish{.stores = 3};
// A free loads the kind of the slab, clears the length and the bits (2 ANDs), and subtracts from the count.
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
    // Each lane loads the head and sets its bits and length. One lane raises the counter of the size and the count of
    // the slab for all.
    EXPECT_EQ(calls.sum(), (Ops{.loads = 1, .updates = 2}) * 32 + (Ops{.updates = 2})) << bytes;
    // Each lane loads the kind and clears its length and bits. One lane lowers the count of the slab for all.
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

// The slides "Warp-Aggregated Atomic Increment" promise "up to 32x less atomics". With aggregation, one lane raises the
// counter of the size and the count of the slab for 32 lanes. Without it, each lane raises both. Each lane sets its own
// bits and length.
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

// The hash h(c, 0) places successive blocks of 64 bytes T blocks apart, where T is the spread.
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
  // A slab has 32 blocks of 8 chunks and becomes busy at 213 chunks, with the 27th block. Until then, the hash names
  // different blocks.
  for (int i = 2; i < 27; ++i) EXPECT_EQ(rig.counted_malloc({2048}).of_lane[0], begin + block) << i;
  // The lane loads the head's count, which is busy. In the old head, it locks (1 exchange), stores the descriptor,
  // changes the counter (1 AND), and unlocks (1 store). Then it adds the slab to the busy set (1 OR).
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
  // The blocks take 216 chunks. The free that crosses the busy threshold (213) makes an OR of a set. The free that
  // crosses the roomy threshold (153) makes two ORs, and an AND that takes the slab out of the busy set. Only the free
  // that empties the slab crosses the sparse threshold (3 of 256). It locks (1 exchange), loads the counter, removes
  // the kind (1 OR), stores the descriptor, adds the slab to the free set (1 OR), and unlocks (1 store).
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
  // The lane tries two blocks (2 ORs) and loads the count, which is busy. The replacement loads the head's count, finds
  // no slab in the sets roomy, sparse, free and busy (4 loads), and unlocks (1 store).
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
