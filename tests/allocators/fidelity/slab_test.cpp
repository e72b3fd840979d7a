// These tests compare the operations of the published slab allocator on shared words with numbers worked out by hand
// from the public code of IndexinGPU (slab.hpp).
#include "allocators/slab/slab.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::size_t block_bytes = 1024 * 128;

Slab::Parameters tiles_of_16() {
  Slab::Parameters parameters;
  parameters.tile_lanes = 16;
  return parameters;
}

TEST(SlabFidelity, OneLane) {
  FidelityRig<Slab> rig(4 * block_bytes);
  const Calls calls = rig.counted_malloc({128});
  // The lane loads the first word, which has a free slab, and sets the bit (1 OR).
  EXPECT_EQ(calls.of_lane[0], (Ops{.loads = 1, .updates = 1}));
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.updates = 1}));
}

TEST(SlabFidelity, AWarp) {
  FidelityRig<Slab> rig(4 * block_bytes);
  const Calls calls = rig.warp_mallocs(100);
  // The tile serves 32 requests one after the other. For each request, 32 lanes load a word each, and one of them takes
  // a bit.
  EXPECT_EQ(calls.sum(), (Ops{.loads = 32, .updates = 1}) * 32);
  EXPECT_EQ(std::set<void*>(calls.blocks.begin(), calls.blocks.end()).size(), 32u);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (Ops{.updates = 32}));
}

TEST(SlabFidelity, TilesOf16Lanes) {
  FidelityRig<Slab> rig(4 * block_bytes, tiles_of_16());
  const Calls calls = rig.warp_mallocs(128);
  // Two tiles serve 16 requests each. For each request, 16 lanes load a word of 64 bits each, and one of them takes a
  // bit.
  EXPECT_EQ(calls.sum(), (Ops{.loads = 16, .updates = 1}) * 32);
  // Tile 1 begins at block 0x9e3779b1 mod 4 = 1.
  EXPECT_EQ(rig.offset(calls.blocks[0]) / static_cast<std::ptrdiff_t>(block_bytes), 0);
  EXPECT_EQ(rig.offset(calls.blocks[16]) / static_cast<std::ptrdiff_t>(block_bytes), 1);
}

TEST(SlabFidelity, AFullBlockIsReplaced) {
  FidelityRig<Slab> rig(4 * block_bytes);
  for (int i = 0; i < 32; ++i) rig.warp_mallocs(128);
  // The resident block of 1,024 slabs is full. The request loads its 32 words and then a word of the next block.
  EXPECT_EQ(rig.counted_malloc({128}).of_lane[0], (Ops{.loads = 32 + 1, .updates = 1}));
  // The tile remembers the new block in the next kernel.
  EXPECT_EQ(rig.counted_malloc({128}).of_lane[0], (Ops{.loads = 1, .updates = 1}));
}

TEST(SlabFidelity, AnExhaustedPool) {
  FidelityRig<Slab> rig(3 * block_bytes);
  for (int i = 0; i < 3 * 32; ++i) rig.warp_mallocs(128);
  const Calls calls = rig.warp_mallocs(128);
  EXPECT_EQ(calls.blocks, std::vector<void*>(32, nullptr));
  // The first request finds three full blocks. The tile does not try the other requests.
  EXPECT_EQ(calls.sum(), (Ops{.loads = 3 * 32}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
