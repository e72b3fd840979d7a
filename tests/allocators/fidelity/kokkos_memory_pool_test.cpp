// These tests compare the operations of Kokkos::MemoryPool on shared words with numbers worked out by hand from Kokkos
// 28848df, Kokkos_MemoryPool.hpp.
#include "allocators/kokkos_memory_pool/kokkos_memory_pool.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

// Four superblocks of 16, 8, 4 and 2 blocks of 16, 32, 64 and 128 bytes, one per size at the start.
constexpr kokkos::Parameters small_superblocks{.min_block_bytes = 16, .max_block_bytes = 128, .superblock_bytes = 256};
constexpr std::size_t four_superblocks = 4 * 256;

// Hint 1 load, header of its superblock 1 load.
constexpr Ops try_hint{.loads = 2};
// Count 1 addition, bit 1 OR.
constexpr Ops claim{.updates = 2};
// Count 1 addition and 1 subtraction.
constexpr Ops claim_in_vain{.updates = 2};
// Header 1 load; bit 1 AND; count 1 subtraction.
constexpr Ops give_back{.loads = 1, .updates = 2};

Ops operator+(Ops a, const Ops& b) { return a += b; }

TEST(KokkosFidelity, OneLane) {
  FidelityRig<KokkosMemoryPool> rig(std::size_t{16} << 20);
  const Calls calls = rig.counted_malloc({256});
  EXPECT_EQ(calls.of_lane[0], try_hint + claim);
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_back);
}

// No lane works for another. Each begins at the clock plus its rank in the block. On the CPU executor the clocks of
// lanes differ, so some want the same bit and need another OR.
TEST(KokkosFidelity, AWarp) {
  FidelityRig<KokkosMemoryPool> rig(std::size_t{16} << 20);
  const Calls calls = rig.warp_mallocs(256);
  for (const Ops& ops : calls.of_lane) EXPECT_EQ(ops.loads, try_hint.loads);
  const Ops sum = calls.sum();
  EXPECT_EQ(sum.compare_exchanges, 0u);
  EXPECT_GE(sum.updates, claim.updates * 32);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), give_back * 32);
}

TEST(KokkosFidelity, AFullSuperblock) {
  FidelityRig<KokkosMemoryPool> rig(four_superblocks, small_superblocks);
  for (int i = 0; i < 2; ++i) rig.malloc({128});
  // The hint's superblock is full. The scan begins there: begin of the range 1 load, 1 header, then the empty one
  // behind it, which is the first of all: 3 more headers, until the scan has seen all. It becomes one of 128 bytes: 1
  // compare-exchange; hint 1 compare-exchange. Its header 1 load, claim.
  EXPECT_EQ(rig.counted_malloc({128}).of_lane[0],
            try_hint + claim_in_vain + (Ops{.loads = 1 + 4, .compare_exchanges = 2}) + (Ops{.loads = 1}) + claim);
  // The hint names the new one.
  EXPECT_EQ(rig.counted_malloc({128}).of_lane[0], try_hint + claim);
}

// A scan begins at the range of its size, so it passes all superblocks of the range that are full already.
TEST(KokkosFidelity, AScanPassesAllFullSuperblocks) {
  FidelityRig<KokkosMemoryPool> rig(8 * four_superblocks, small_superblocks);
  for (std::uint64_t full = 1; full < 8; ++full) {
    rig.malloc({128});
    rig.malloc({128});
    // The hint's superblock is full. Begin of the range 1 load, then the headers of the full ones and of the first one
    // with room; hint 1 compare-exchange. Its header 1 load, claim.
    const Calls calls = rig.counted_malloc({128});
    EXPECT_EQ(calls.of_lane[0], try_hint + claim_in_vain + (Ops{.loads = 1 + full + 1, .compare_exchanges = 1}) +
                                    (Ops{.loads = 1}) + claim)
        << full;
    rig.free(calls.blocks);
  }
}

TEST(KokkosFidelity, ASuperblockOfLargerBlocks) {
  FidelityRig<KokkosMemoryPool> rig(four_superblocks, small_superblocks);
  for (const std::uint64_t bytes : {16, 32, 64}) rig.malloc({bytes});
  rig.malloc({128});
  rig.malloc(std::vector<std::uint64_t>(3, 64));
  // No superblock is empty and that of 64 bytes is full. Begin of the range 1 load, 4 headers; that of 128 bytes has a
  // block left: its header 1 load, claim. The hint stays. The clock says whether the search for the bit begins at the
  // block in use: 1 OR more.
  const Calls calls = rig.counted_malloc({64});
  Ops expected = try_hint + claim_in_vain + (Ops{.loads = 1 + 4}) + (Ops{.loads = 1}) + claim;
  if (calls.of_lane[0].updates != expected.updates) expected.updates += 1;
  EXPECT_EQ(calls.of_lane[0], expected);
  EXPECT_EQ(rig.offset(calls.blocks[0]) / 256, 3);
  EXPECT_EQ(rig.offset(calls.blocks[0]) % 128, 0);
}

TEST(KokkosFidelity, AnExhaustedPool) {
  FidelityRig<KokkosMemoryPool> rig(four_superblocks, small_superblocks);
  for (int i = 0; i < 8; ++i) ASSERT_NE(rig.malloc({128})[0], nullptr);
  const Calls calls = rig.counted_malloc({128});
  EXPECT_EQ(calls.blocks[0], nullptr);
  EXPECT_EQ(calls.of_lane[0], try_hint + claim_in_vain + (Ops{.loads = 1 + 4}));
  auto patient = small_superblocks;
  patient.attempts = 3;
  FidelityRig<KokkosMemoryPool> other(four_superblocks, patient);
  for (int i = 0; i < 8; ++i) ASSERT_NE(other.malloc({128})[0], nullptr);
  // Every attempt begins at the hint.
  EXPECT_EQ(other.counted_malloc({128}).of_lane[0], (try_hint + claim_in_vain + (Ops{.loads = 1 + 4})) * 3);
}

TEST(KokkosFidelity, WrongFreesChangeNothing) {
  FidelityRig<KokkosMemoryPool> rig(four_superblocks, small_superblocks);
  void* const block = rig.malloc({32})[0];
  // Beside the start of a block: the header 1 load.
  EXPECT_EQ(rig.counted_free({static_cast<std::byte*>(block) + 8}).of_lane[0], (Ops{.loads = 1}));
  EXPECT_EQ(rig.counted_free({block}).of_lane[0], give_back);
  // Again: header 1 load, bit 1 AND that finds it clear.
  EXPECT_EQ(rig.counted_free({block}).of_lane[0], (Ops{.loads = 1, .updates = 1}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// Kokkos_MemoryPool.hpp: 520 words of state per superblock by default.
TEST(KokkosMemoryPool, StatesAsPublished) {
  FidelityRig<KokkosMemoryPool> rig(std::size_t{16} << 20);
  EXPECT_EQ(rig.allocator.superblocks().stride, 520u);
  EXPECT_EQ(rig.allocator.superblocks().count, 16u);
  EXPECT_EQ(rig.malloc({4097})[0], nullptr);
  EXPECT_EQ(rig.malloc({0})[0], nullptr);
}

TEST(KokkosMemoryPool, RefusesSizesThatDoNotFit) {
  using Rig = FidelityRig<KokkosMemoryPool>;
  EXPECT_THROW(Rig(1 << 10), Unsupported);
  EXPECT_THROW(Rig(1 << 20, {.min_block_bytes = 8192}), Unsupported);
  EXPECT_THROW(Rig(std::size_t{1} << 30, {.min_block_bytes = 16, .superblock_bytes = std::size_t{1} << 30}),
               Unsupported);
}

}  // namespace
}  // namespace allocbench
