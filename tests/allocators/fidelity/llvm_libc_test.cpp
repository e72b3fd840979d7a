// These tests compare the operations of LLVM libc's GPU malloc on shared words with numbers worked out by hand from
// libc/src/__support/GPU/allocator.cpp (2026).
#include "allocators/llvm_libc/llvm_libc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using llvm_libc::Rounding;
using llvm_libc::SizeClass;
using llvm_libc::SlabLayout;
using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::size_t MiB = std::size_t{1} << 20;

// A slab of 512 bytes has 30 chunks of 16 bytes or 7 of 64. The cache has one place.
llvm_libc::Parameters small_slabs() { return {.slab_bytes = 512, .cached_slabs = 1}; }

Ops operator+(Ops a, const Ops& b) { return a += b; }

constexpr Ops load_hint{.loads = 1};
// A claim loads the pointer, adds to the counter, and loads the pointer again and the chunk size of the slab.
constexpr Ops claim{.loads = 3, .updates = 1};
constexpr Ops set_run{.updates = 1};
// A free loads the header and clears the bit (1 AND).
constexpr Ops clear_bit{.loads = 1, .updates = 1};
constexpr Ops lower_counter{.updates = 1};
// The lane loads the pointer and changes it to `making` by a compare-exchange. It loads `cached` places of the cache.
// In the pool, it loads the returned and the fresh slabs and adds to the fresh ones. It stores the words of bits, two
// words of the header and the pointer. An addition finds the counter invalid, and a store makes it valid.
constexpr Ops make_slab(std::uint64_t cached, std::uint64_t words) {
  return {.loads = 1 + cached + 2, .stores = words + 2 + 1 + 1, .updates = 1 + 1, .compare_exchanges = 1};
}
// A compare-exchange makes the counter invalid. The lane loads the first place of the cache, fills it by a
// compare-exchange, and stores the pointer.
constexpr Ops give_slab{.loads = 1, .stores = 1, .compare_exchanges = 2};

TEST(LlvmLibcFidelity, OneLane) {
  FidelityRig<LlvmLibc> rig(8 * MiB);
  // Chunks of 256 bytes need 8,192 bits in 256 words.
  const Calls first = rig.counted_malloc({256});
  EXPECT_EQ(first.of_lane[0], load_hint + make_slab(8, 256) + set_run);
  const Calls second = rig.counted_malloc({256});
  EXPECT_EQ(second.of_lane[0], load_hint + claim + set_run);
  EXPECT_EQ(rig.counted_free(first.blocks).of_lane[0], clear_bit + lower_counter);
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], clear_bit + lower_counter + give_slab);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(LlvmLibcFidelity, ACachedSlabIsNotClearedForLargerChunks) {
  FidelityRig<LlvmLibc> rig(8 * MiB);
  rig.free(rig.malloc({256}));
  // The slab comes from the first place of the cache (1 load, 1 compare-exchange), and the lane loads its chunk size.
  // No word is cleared.
  const Ops reuse{.loads = 1 + 1 + 1, .stores = 2 + 1 + 1, .updates = 1, .compare_exchanges = 1 + 1};
  const Calls larger = rig.counted_malloc({512});
  EXPECT_EQ(larger.of_lane[0], load_hint + reuse + set_run);
  rig.free(larger.blocks);
  // Chunks of 64 bytes need 32,768 bits in 1,024 words.
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0], load_hint + reuse + (Ops{.stores = 1024}) + set_run);
}

TEST(LlvmLibcFidelity, AWarp) {
  FidelityRig<LlvmLibc> rig(8 * MiB);
  rig.warp_mallocs(256);
  // Reservations 32 to 63 lie in one word of bits, so one OR serves all lanes.
  const Calls aligned = rig.warp_mallocs(256);
  EXPECT_EQ(aligned.sum(), load_hint + claim + set_run);
  EXPECT_EQ(rig.counted_free(aligned.blocks).sum(), clear_bit * 32 + lower_counter);
  // One lane takes number 32, and the next warp takes 33 to 64. Their bits lie in two words, so there are two ORs.
  rig.malloc({256});
  const Calls across = rig.warp_mallocs(256);
  EXPECT_EQ(across.sum(), load_hint + claim + set_run * 2);
  std::set<void*> blocks(across.blocks.begin(), across.blocks.end());
  EXPECT_EQ(blocks.size(), 32u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(LlvmLibcFidelity, LanesOfTwoSizesWorkSideBySide) {
  FidelityRig<LlvmLibc> rig(8 * MiB);
  std::vector<std::uint64_t> sizes(32, 256);
  std::fill(sizes.begin() + 16, sizes.end(), 1024);
  rig.malloc(sizes);
  // The second launch gets reservations 16 to 31 of each size. Their bits lie in one word per size.
  EXPECT_EQ(rig.counted_malloc(sizes).sum(), (load_hint + claim + set_run) * 2);
}

TEST(LlvmLibcFidelity, AFullSlab) {
  FidelityRig<LlvmLibc> rig(4 * 512, small_slabs());
  for (int i = 0; i < 7; ++i) rig.malloc({64});
  // The hint's slab has 7 chunks and gives number 7, which the lane gives back. The home is the same slot, whose
  // counter the lane loads. At the next slot, it loads the counter and makes a new slab with one word of bits. Then it
  // stores the hint.
  const Calls next = rig.counted_malloc({64});
  EXPECT_EQ(next.of_lane[0],
            load_hint + claim + lower_counter + (Ops{.loads = 2}) + make_slab(1, 1) + (Ops{.stores = 1}) + set_run);
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0], load_hint + claim + set_run);
}

TEST(LlvmLibcFidelity, AnExhaustedPool) {
  FidelityRig<LlvmLibc> rig(512, small_slabs());
  for (int i = 0; i < 7; ++i) ASSERT_NE(rig.malloc({64})[0], nullptr);
  // The only slot is both the hint and the home, so the lane tries it twice. The second time it loads only the counter.
  const Calls calls = rig.counted_malloc({64});
  EXPECT_EQ(calls.blocks[0], nullptr);
  EXPECT_EQ(calls.of_lane[0], load_hint + claim + lower_counter + (Ops{.loads = 1}));
  EXPECT_EQ(rig.malloc({300})[0], nullptr) << "half a slab and more takes a whole one";
}

// Crowd makes requests of many lanes at once from slabs of 64 KiB. Nine slabs have room for all of them.
struct Crowd {
  static constexpr std::uint32_t lanes = 4096;
  explicit Crowd(std::size_t slabs)
      : rig(slabs * 65536, {.slab_bytes = 65536}, 1, 8, simt::StrategyKind::round_robin),
        blocks(rig.counted_malloc(std::vector<std::uint64_t>(lanes, 128), 256).blocks) {}
  std::ptrdiff_t nulls() const { return std::count(blocks.begin(), blocks.end(), nullptr); }
  std::size_t slabs_used() const {
    std::set<std::uint32_t> slabs;
    for (void* block : blocks) {
      if (block != nullptr) slabs.insert(rig.allocator.table().pool.slab_of(block));
    }
    return slabs.size();
  }

  FidelityRig<LlvmLibc> rig;
  std::vector<void*> blocks;
};

// Warps that see the address of a new slab before its counter is valid begin another slab.
TEST(LlvmLibcFidelity, ACrowdMakesMoreSlabsThanItNeeds) {
  Crowd crowd(16);
  EXPECT_EQ(crowd.nulls(), 0);
  const std::uint32_t chunks = crowd.rig.allocator.table().layout().chunks(128);
  EXPECT_EQ((Crowd::lanes + chunks - 1) / chunks, 9u);
  EXPECT_GT(crowd.slabs_used(), 10u);
  EXPECT_EQ(crowd.rig.allocator.broken_invariant(crowd.rig.stream()), "");
}

// A crowd makes too many slabs, so a pool of ten slabs refuses requests while chunks are free.
TEST(LlvmLibcFidelity, ACrowdGetsNullsFromAPoolWithRoom) {
  Crowd crowd(10);
  EXPECT_GT(crowd.nulls(), 0);
  EXPECT_EQ(crowd.slabs_used(), 10u);
  EXPECT_EQ(crowd.rig.allocator.broken_invariant(crowd.rig.stream()), "");
  // Nothing is lost: a request that comes later gets a chunk.
  EXPECT_NE(crowd.rig.malloc({128})[0], nullptr);
}

TEST(LlvmLibcFidelity, WithoutReclaimOneLoadLess) {
  FidelityRig<LlvmLibc> rig(8 * MiB, {.reclaim = false});
  const std::vector<void*> block = rig.malloc({256});
  EXPECT_EQ(rig.counted_malloc({256}).of_lane[0], load_hint + (Ops{.loads = 2, .updates = 1}) + set_run);
  rig.free(rig.malloc({256}));
  EXPECT_EQ(rig.counted_free(block).of_lane[0], clear_bit + lower_counter);
}

// A slab whose blocks are all free stays in its slot, and the next search that looks at its counter uses it again.
TEST(LlvmLibcFidelity, WithoutReclaimAnEmptySlabStaysUsable) {
  llvm_libc::Parameters parameters = small_slabs();
  parameters.reclaim = false;
  FidelityRig<LlvmLibc> rig(2 * 512, parameters);
  std::vector<void*> blocks;
  for (int i = 0; i < 2 * 7; ++i) blocks.push_back(rig.malloc({64})[0]);
  const std::set<void*> all(blocks.begin(), blocks.end());
  ASSERT_EQ(all.count(nullptr), 0u);
  for (void* block : std::vector<void*>(blocks.begin(), blocks.begin() + 7)) rig.free({block});
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  // The hint's slab is full, so the lane raises and lowers its counter. The home's slab is empty. The lane loads its
  // counter, claims a chunk, and stores the hint.
  const Calls again = rig.counted_malloc({64});
  const Ops claims_twice = (Ops{.loads = 2, .updates = 1}) * 2;
  EXPECT_EQ(again.of_lane[0], load_hint + claims_twice + lower_counter + (Ops{.loads = 1, .stores = 1}) + set_run);
  EXPECT_EQ(all.count(again.blocks[0]), 1u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(LlvmLibcFidelity, AWholeSlab) {
  FidelityRig<LlvmLibc> rig(8 * MiB);
  const Calls calls = rig.counted_malloc({MiB});
  // The lane loads the returned and the fresh slabs, and adds to the fresh ones.
  EXPECT_EQ(calls.of_lane[0], (Ops{.loads = 2, .updates = 1}));
  EXPECT_EQ(rig.offset(calls.blocks[0]) % static_cast<std::ptrdiff_t>(2 * MiB), 0);
  // The free pushes the slab to the stack of returned slabs: it loads the top, stores the link, and changes the top by
  // a compare-exchange.
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.loads = 1, .stores = 1, .compare_exchanges = 1}));
}

// The sizes, homes and chunks per slab follow from allocator.cpp.
TEST(LlvmLibc, SizesAsPublished) {
  EXPECT_EQ(SizeClass::count(21), 46u);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> published = {
      {1, 16},  {16, 16},  {17, 32},   {32, 32},   {47, 48},   {48, 64},   {64, 64},
      {65, 96}, {96, 112}, {112, 128}, {128, 128}, {129, 192}, {192, 224}, {(1 << 20), 1 << 20}};
  for (const auto& [request, bytes] : published) EXPECT_EQ(SizeClass::of(request, Rounding::published).bytes, bytes);
  for (const std::uint32_t bytes : {16u, 32u, 48u, 64u, 96u, 112u, 128u, 192u, 224u, 256u, 786432u, 917504u}) {
    EXPECT_EQ(SizeClass::of(bytes, Rounding::fixed).bytes, bytes);
    EXPECT_GT(SizeClass::of(bytes + 1, Rounding::fixed).bytes, bytes);
  }
  std::uint32_t last = 0;
  for (std::uint32_t request = 1; request <= 1 << 20; request += request < 4096 ? 1 : 512) {
    for (const Rounding rounding : {Rounding::published, Rounding::fixed}) {
      const SizeClass size = SizeClass::of(request, rounding);
      ASSERT_GE(size.bytes, request);
      ASSERT_LT(size.number, 46u);
      ASSERT_EQ(SizeClass::of(size.bytes, Rounding::fixed).number, size.number);
    }
    const std::uint32_t number = SizeClass::of(request, Rounding::fixed).number;
    ASSERT_TRUE(number == last || number == last + 1);
    last = number;
  }
  const auto home = [](std::uint32_t bytes) { return SizeClass::of(bytes, Rounding::fixed).home(46, 32767); };
  EXPECT_EQ(home(16), 0u);
  EXPECT_EQ(home(32), 2135u);
  EXPECT_EQ(home(64), 6126u);
  EXPECT_EQ(home(128), 11437u);
  EXPECT_EQ(home(1024), 23058u);
  EXPECT_EQ(home(64 << 10), 32146u);
  EXPECT_EQ(home(1 << 20), 32767u);
}

TEST(LlvmLibc, SlabsAsPublished) {
  const SlabLayout slab;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> chunks = {
      {16, 130047}, {32, 65279}, {64, 32703},    {128, 16367},   {256, 8187},
      {1024, 2047}, {4096, 511}, {64 << 10, 31}, {512 << 10, 3}, {1 << 20, 1}};
  for (const auto& [bytes, count] : chunks) EXPECT_EQ(slab.chunks(bytes), count) << bytes;
}

}  // namespace
}  // namespace allocbench
