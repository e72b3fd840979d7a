// These tests compare the operations of both versions of ROCm's device malloc on shared words with numbers worked out
// by hand from ockl/src/dm.cl.
#include "allocators/rocm_dm/rocm_dm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "allocators/rocm_dm/rocm_dm_grouped.hpp"
#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using rocm_dm::Kind;
using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::size_t MiB = std::size_t{1} << 20;

// A slab of 512 bytes has 29 usable blocks of 16 bytes (25 up to the 85 % mark), 6 of 64 (5) or 2 of 192 (1).
template <class A>
typename A::Parameters small_slabs() {
  typename A::Parameters parameters;
  parameters.slab_bytes = 512;
  parameters.max_block_bytes = 192;
  parameters.large_alignment_bytes = 256;
  return parameters;
}

Ops operator+(Ops a, const Ops& b) { return a += b; }

// A search loads the place where it begins and the number of slabs.
constexpr Ops begin{.loads = 2};
// Every lane that has a slab to look at loads the slab's count.
constexpr Ops look{.loads = 1};
constexpr Ops slab_address{.loads = 1};
// An addition gives the word at which the search in the slab begins.
constexpr Ops take_start{.updates = 1};
// A lane loads a word of bits and sets a bit (1 OR).
constexpr Ops take_bit{.loads = 1, .updates = 1};
constexpr Ops count{.updates = 1};
// The lane loads the time of the last slab and the number of slabs. It loads the returned and the fresh slabs to see
// whether the pool is empty, and changes the time by a compare-exchange. It loads the returned and the fresh slabs
// again and adds to the fresh ones. It makes 3 stores to the header, enters the record by a compare-exchange, and adds
// to the number of slabs. The bits are plain stores, which are not counted.
constexpr Ops make_slab{.loads = 6, .stores = 3, .updates = 2, .compare_exchanges = 2};
// A free loads the kind and the record in one load and clears the bit (1 AND).
constexpr Ops clear_bit{.loads = 1, .updates = 1};

TEST(RocmDmFidelity, OneLane) {
  FidelityRig<RocmDm> rig(8 * MiB);
  const Calls first = rig.counted_malloc({256});
  EXPECT_EQ(first.of_lane[0], begin + make_slab + take_start + take_bit + count);
  const Calls second = rig.counted_malloc({256});
  EXPECT_EQ(second.of_lane[0], begin + look + slab_address + take_start + take_bit + count);
  EXPECT_EQ(rig.counted_free(first.blocks).of_lane[0], clear_bit + count);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// One lane looks at the only slab, each lane takes a bit in its own word, and one lane counts.
TEST(RocmDmFidelity, AWarp) {
  FidelityRig<RocmDm> rig(8 * MiB);
  rig.malloc({256});
  const Calls calls = rig.warp_mallocs(256);
  EXPECT_EQ(calls.sum(), begin + look + slab_address + take_start + take_bit * 32 + count);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), clear_bit * 32 + count);
}

// The sizes are served one after the other. The lanes of each size do what a warp does.
TEST(RocmDmFidelity, TwoSizes) {
  FidelityRig<RocmDm> rig(8 * MiB);
  std::vector<std::uint64_t> sizes(32, 256);
  std::fill(sizes.begin() + 16, sizes.end(), 1024);
  rig.malloc(sizes);
  const Calls calls = rig.counted_malloc(sizes);
  EXPECT_EQ(calls.sum(), (begin + look + slab_address + take_start + take_bit * 16 + count) * 2);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), (clear_bit * 16 + count) * 2);
}

TEST(RocmDmFidelity, ASlabAt85PercentIsUsedLast) {
  FidelityRig<RocmDm> rig(2 * 512, small_slabs<RocmDm>());
  for (int i = 0; i < 5; ++i) rig.malloc({64});
  // The slab has 5 of 6 blocks in use, so the request makes a new slab.
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0], begin + look + make_slab + take_start + take_bit + count);
  for (int i = 0; i < 4; ++i) rig.malloc({64});
  // Both slabs are at 85 %, and the pool has no third one. So the request takes the first slab.
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0],
            begin + look * 2 + begin + look + slab_address + take_start + take_bit + count);
}

TEST(RocmDmFidelity, AnExhaustedHeapAsksTheNextPowerOfTwo) {
  FidelityRig<RocmDm> rig(2 * 512, small_slabs<RocmDm>());
  rig.malloc({128});
  for (int i = 0; i < 6; ++i) ASSERT_NE(rig.malloc({64})[0], nullptr);
  // No block of 64 bytes is left, but one block of 128 bytes.
  EXPECT_NE(rig.malloc({64})[0], nullptr);
  // The request tries 64 bytes and then 128 bytes, the last power of two. In each size, it finds nothing below 85 %. It
  // loads the time of the last slab, the number of slabs, and the returned and the fresh slabs of the pool. A second
  // search finds nothing, either.
  const Calls calls = rig.counted_malloc({64});
  EXPECT_EQ(calls.blocks[0], nullptr);
  EXPECT_EQ(calls.of_lane[0], (begin + look + (Ops{.loads = 4}) + begin + look) * 2);
}

TEST(RocmDmGroupedFidelity, OneLane) {
  FidelityRig<RocmDmGrouped> rig(8 * MiB);
  // The maker's count is stored before the record is exchanged.
  const Calls first = rig.counted_malloc({256});
  EXPECT_EQ(first.of_lane[0], begin + make_slab + (Ops{.stores = 1}) + take_start + take_bit);
  const Calls second = rig.counted_malloc({256});
  EXPECT_EQ(second.of_lane[0], begin + look + count + slab_address + take_start + take_bit);
  EXPECT_EQ(rig.counted_free(first.blocks).of_lane[0], clear_bit + count);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(RocmDmGroupedFidelity, AWarp) {
  FidelityRig<RocmDmGrouped> rig(8 * MiB);
  rig.malloc({256});
  const Calls calls = rig.warp_mallocs(256);
  EXPECT_EQ(calls.sum(), begin + look + count + slab_address + take_start + take_bit * 32);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), clear_bit * 32 + count);
}

// A reservation that does not fit is taken back.
TEST(RocmDmGroupedFidelity, AGroupThatDoesNotFit) {
  FidelityRig<RocmDmGrouped> rig(2 * 512, small_slabs<RocmDmGrouped>());
  for (int i = 0; i < 4; ++i) rig.malloc({64});
  // The slab has 4 of 6 blocks in use, which is below the mark of 5. But 3 more do not fit, so the group makes a new
  // slab.
  const Calls calls = rig.counted_malloc({64, 64, 64});
  // All three lanes want the lowest clear bit of the only word, so two of them try again.
  const std::uint64_t tries = calls.sum().updates - (count * 2 + make_slab + take_start).updates;
  EXPECT_GE(tries, 3u);
  EXPECT_EQ(calls.sum(), begin + look + count * 2 + make_slab + (Ops{.stores = 1}) + take_start + take_bit * tries);
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 0);
  // The slabs have 4 and 3 of 6 blocks in use, and the pool is empty. So 2 lanes get blocks of one slab, and 3 lanes
  // get blocks of the other slab.
  const std::vector<void*> last = rig.malloc(std::vector<std::uint64_t>(8, 64));
  EXPECT_EQ(std::count(last.begin(), last.end(), nullptr), 3);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(RocmDmGroupedFidelity, FixedCountsAfterTheExchange) {
  rocm_dm::GroupedParameters parameters;
  parameters.count_order = "fixed";
  FidelityRig<RocmDmGrouped> rig(8 * MiB, parameters);
  EXPECT_EQ(rig.counted_malloc({256}).of_lane[0], begin + make_slab + count + take_start + take_bit);
}

// The release has no memory order. The development version has a fence before it clears a bit. Orders cost no
// operations.
TEST(RocmDm, OrdersAsPublished) {
  const auto orders = [](const auto& parameters) {
    return std::pair{parameters.chosen_orders().clearing_releases, parameters.chosen_orders().setting_acquires};
  };
  EXPECT_EQ(orders(RocmDm::Parameters{}), std::pair(false, false));
  EXPECT_EQ(orders(RocmDmGrouped::Parameters{}), std::pair(true, false));
  for (const char* version : {"fenced", "fixed"}) {
    rocm_dm::Parameters parameters;
    parameters.bit_orders = version;
    EXPECT_EQ(orders(parameters), std::pair(true, parameters.bit_orders == "fixed"));
    FidelityRig<RocmDm> rig(8 * MiB, parameters);
    rig.malloc({256});
    const Calls calls = rig.counted_malloc({256});
    EXPECT_EQ(calls.of_lane[0], begin + look + slab_address + take_start + take_bit + count);
    EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], clear_bit + count);
  }
}

// The table has the blocks, the usable blocks and the offset of block 0 for each size, as they follow from dm.cl. No
// request uses the 24-byte kind.
TEST(RocmDm, SlabsAsPublished) {
  const std::vector<std::array<std::uint32_t, 4>> table = {
      {16, 130054, 129546, 16288}, {24, 86927, 86758, 10904}, {32, 65280, 64770, 8192},  {48, 43576, 43406, 5504},
      {64, 32703, 32193, 4160},    {96, 21816, 21646, 2816},  {128, 16367, 15856, 2176}, {192, 10915, 10745, 1472},
      {256, 8187, 7676, 1280},     {384, 5459, 5289, 896},    {512, 4094, 3583, 1024},   {768, 2730, 2560, 512},
      {1024, 2047, 1536, 1024},    {1536, 1365, 1195, 512},   {2048, 1023, 512, 2048},   {3072, 682, 512, 2048}};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const Kind kind = Kind::of(i, 2 << 20, 4096);
    EXPECT_EQ(kind.bytes, table[i][0]);
    EXPECT_EQ(kind.blocks, table[i][1]) << kind.bytes;
    EXPECT_EQ(kind.usable, table[i][2]) << kind.bytes;
    EXPECT_EQ(kind.begin, table[i][3]) << kind.bytes;
    EXPECT_LE(Kind::header_bytes + 16 * ((kind.long_words() + 1) / 2), kind.begin) << kind.bytes;
  }
  for (std::uint32_t bytes = 1; bytes <= 3072; ++bytes) {
    const std::uint32_t kind = Kind::of_request(bytes);
    ASSERT_GE(Kind::bytes_of(kind), bytes);
    ASSERT_TRUE(kind == 0 || Kind::bytes_of(kind - 1) < bytes || (kind == 2 && bytes > 16)) << bytes;
  }
}

// One, three or 32 lanes make a slab in memory with other contents. The slab must have a set bit for each block that
// must not be handed out.
TEST(RocmDm, BitsOfAnEmptySlab) {
  for (const std::uint32_t lanes : {1u, 3u, 32u}) {
    testing::Rig<RocmDm> rig(16 * 2 * MiB);
    const rocm_dm::Heap& heap = rig.allocator.heap();
    std::fill_n(heap.pool.base, 16 * 2 * MiB, std::byte{0xff});
    for (std::uint32_t i = 0; i <= heap.last_kind; ++i) {
      const Kind& kind = heap.kinds[i];
      if (kind.bytes == 24) continue;
      rig.free(rig.malloc(std::vector<std::uint64_t>(lanes, kind.bytes)));
      const std::uint64_t slab = heap.record(i, 0).slab;
      for (std::uint32_t block = 0; block < 64 * kind.long_words(); ++block) {
        const bool usable = block < kind.blocks && (kind.begin + block * kind.bytes) % 4096 != 0;
        ASSERT_EQ(heap.long_word(slab, block / 64) >> block % 64 & 1, usable ? 0 : 1) << kind.bytes << " " << block;
      }
    }
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

template <class A>
class RocmDmTest : public ::testing::Test {};
using Versions = ::testing::Types<RocmDm, RocmDmGrouped>;
TYPED_TEST_SUITE(RocmDmTest, Versions);

// No block begins at a multiple of 4 KiB, because free would take it for a block of the host.
TYPED_TEST(RocmDmTest, NeverHandsOutMultiplesOf4KiB) {
  testing::Rig<TypeParam> rig(2 * MiB);
  std::set<void*> blocks;
  for (int i = 0; i < 16; ++i) {
    for (void* const block : rig.malloc(std::vector<std::uint64_t>(32, 2048))) {
      ASSERT_NE(block, nullptr);
      ASSERT_TRUE(blocks.insert(block).second);
      ASSERT_NE(rig.offset(block) % 4096, 0);
    }
  }
  EXPECT_EQ(rig.malloc({2048})[0], nullptr) << "512 of 1,023 blocks are usable";
}

}  // namespace
}  // namespace allocbench
