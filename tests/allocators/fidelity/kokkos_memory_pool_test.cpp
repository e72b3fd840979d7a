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

// The pool has four superblocks. At the start, they have 16, 8, 4 and 2 blocks of 16, 32, 64 and 128 bytes.
constexpr kokkos::Parameters small_superblocks{.min_block_bytes = 16, .max_block_bytes = 128, .superblock_bytes = 256};
constexpr std::size_t four_superblocks = 4 * 256;

// A request loads the hint and the header of the hint's superblock.
constexpr Ops try_hint{.loads = 2};
// A claim adds to the count and sets the bit (1 OR).
constexpr Ops claim{.updates = 2};
// A claim in vain adds to the count and subtracts again.
constexpr Ops claim_in_vain{.updates = 2};
// A free loads the header, clears the bit (1 AND), and subtracts from the count.
constexpr Ops give_back{.loads = 1, .updates = 2};

Ops operator+(Ops a, const Ops& b) { return a += b; }

TEST(KokkosFidelity, OneLane) {
  FidelityRig<KokkosMemoryPool> rig(std::size_t{16} << 20);
  const Calls calls = rig.counted_malloc({256});
  EXPECT_EQ(calls.of_lane[0], try_hint + claim);
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_back);
}

// Each lane works for itself. The clock and its rank in the block give the bit at which it begins. On the CPU executor,
// the clocks of lanes differ, so some lanes want the same bit and need another OR.
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
  // The hint's superblock is full. The scan loads the start of the range and all four headers. An empty superblock gets
  // blocks of 128 bytes, and the hint names it (2 compare-exchanges). Then the request loads this superblock's header
  // and claims a block.
  EXPECT_EQ(rig.counted_malloc({128}).of_lane[0],
            try_hint + claim_in_vain + (Ops{.loads = 1 + 4, .compare_exchanges = 2}) + (Ops{.loads = 1}) + claim);
  // Now the hint names the new superblock.
  EXPECT_EQ(rig.counted_malloc({128}).of_lane[0], try_hint + claim);
}

// A scan begins at the range of its size, so it passes all full superblocks of the range.
TEST(KokkosFidelity, AScanPassesAllFullSuperblocks) {
  FidelityRig<KokkosMemoryPool> rig(8 * four_superblocks, small_superblocks);
  for (std::uint64_t full = 1; full < 8; ++full) {
    rig.malloc({128});
    rig.malloc({128});
    // The hint's superblock is full. The scan loads the start of the range, the headers of the full superblocks, and
    // the header of the first one with room. A compare-exchange changes the hint. Then the request loads the header
    // again and claims a block.
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
  // No superblock is empty, and the one with blocks of 64 bytes is full. The scan loads the start of the range and 4
  // headers. The superblock with blocks of 128 bytes has a block left, so the request loads its header and claims the
  // block. The hint stays. If the clock lets the search begin at the block in use, there is one more OR.
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
  // A free of an address inside a block only loads the header.
  EXPECT_EQ(rig.counted_free({static_cast<std::byte*>(block) + 8}).of_lane[0], (Ops{.loads = 1}));
  EXPECT_EQ(rig.counted_free({block}).of_lane[0], give_back);
  // A second free loads the header and finds the bit clear (1 AND).
  EXPECT_EQ(rig.counted_free({block}).of_lane[0], (Ops{.loads = 1, .updates = 1}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// By default, Kokkos_MemoryPool.hpp has 520 words of state per superblock.
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
