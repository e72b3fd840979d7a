// These tests of Halloc compare sizes, chunks and hash with values worked out by hand, and check the rules of slabs and
// heads, then use seeded stress.
#include "allocators/halloc/halloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocators/halloc/halloc_reworked.hpp"
#include "tests/allocators/shared_cases.hpp"
#include "tests/allocators/stress.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using halloc::Head;
using halloc::SizeClasses;
using halloc::SlabState;
using testing::malloc_until_null;
using testing::Rig;
using testing::StressPlan;

constexpr std::uint64_t KiB = 1024;

SizeClasses published() { return SizeClasses::of_slab(4 << 20, 0.835, 0.60, 0.012); }

TEST(HallocSizes, HaveThePublishedChunksAndThresholds) {
  const struct {
    std::uint32_t id, bytes, chunk, blocks_per_chunk_log, k_log, chunks, busy, roomy, sparse;
  } rows[] = {{0, 16, 16, 0, 2, 262144, 218890, 157286, 3145}, {1, 24, 24, 0, 2, 174760, 145924, 104856, 2097},
              {2, 32, 16, 1, 1, 262144, 218890, 157286, 3145}, {3, 48, 24, 1, 1, 174760, 145924, 104856, 2097},
              {4, 64, 16, 2, 0, 262144, 218890, 157286, 3145}, {7, 192, 24, 3, 0, 174760, 145924, 104856, 2097},
              {8, 256, 256, 0, 0, 16384, 13680, 9830, 196},    {13, 1536, 384, 2, 0, 10920, 9118, 6552, 131},
              {14, 2048, 256, 3, 0, 16384, 13680, 9830, 196},  {15, 3072, 384, 3, 0, 10920, 9118, 6552, 131}};
  for (const auto& row : rows) {
    const std::uint32_t kind = halloc::kind_of(row.id);
    EXPECT_EQ(halloc::block_bytes(row.id), row.bytes);
    EXPECT_EQ(halloc::chunk_bytes(kind), row.chunk);
    EXPECT_EQ(halloc::block_log(row.id), row.blocks_per_chunk_log);
    EXPECT_EQ(halloc::neighbours_log(row.id), row.k_log);
    EXPECT_EQ(published().chunks(kind).divisor(), row.chunks) << row.id;
    EXPECT_EQ(published().thresholds(kind).busy, row.busy) << row.id;
    EXPECT_EQ(published().thresholds(kind).roomy, row.roomy) << row.id;
    EXPECT_EQ(published().thresholds(kind).sparse, row.sparse) << row.id;
  }
}

TEST(HallocSizes, RoundEveryRequestUpToTheNextSize) {
  for (std::uint32_t bytes = 0; bytes <= halloc::largest_block; ++bytes) {
    const std::uint32_t id = halloc::size_id(bytes);
    ASSERT_LT(id, halloc::size_count);
    ASSERT_GE(halloc::block_bytes(id), bytes);
    ASSERT_EQ(halloc::block_bytes(id) % 16, 0u);
    ASSERT_TRUE(id <= 2 || halloc::block_bytes(id - 1) < bytes) << bytes;
  }
  EXPECT_EQ(halloc::size_id(16), 0u);
  EXPECT_EQ(halloc::size_id(17), 2u);  // skips the 24-byte blocks
  EXPECT_EQ(halloc::size_id(33), 3u);
  EXPECT_EQ(halloc::size_id(3072), 15u);
}

TEST(HallocSizes, FindTheChunkOfEveryOffset) {
  for (std::uint32_t kind = 0; kind < halloc::kind_count; ++kind) {
    for (std::uint32_t chunk = 0; chunk < 200000; ++chunk) {
      ASSERT_EQ(halloc::chunk_of_offset(kind, halloc::offset_of_chunk(kind, chunk)), chunk) << kind;
    }
  }
}

TEST(HallocHash, StepsByThePublishedPrimes) {
  const std::uint32_t steps[] = {5119, 3407, 5114, 3398, 5116, 3356, 5048, 3368,
                                 317,  211,  314,  206,  316,  188,  296,  184};
  for (std::uint32_t id = 0; id < halloc::size_count; ++id) {
    EXPECT_EQ(halloc::hash_step(id, published().chunks(halloc::kind_of(id)).divisor()), steps[id]) << id;
  }
}

TEST(HallocHash, FollowsTheFormulaOfTheSlides) {
  for (std::uint32_t id = 0; id < halloc::size_count; ++id) {
    const std::uint64_t n = published().chunks(halloc::kind_of(id)).divisor();
    const std::uint64_t b = 1u << halloc::block_log(id);
    const std::uint64_t k = 1u << halloc::neighbours_log(id);
    const std::uint32_t s = halloc::hash_step(id, static_cast<std::uint32_t>(n));
    for (const std::uint32_t c : {0u, 1u, 5u, 1000u, 123457u, 9999999u}) {
      const std::uint64_t first = b * (c / k * k * 11 + c % k) % n;
      ASSERT_EQ(published().first_probe(id, c), first) << id << " " << c;
      for (std::uint32_t i = 1; i < 100; ++i) {
        ASSERT_EQ(published().next_probe(id, static_cast<std::uint32_t>(first), i, s),
                  (first + i * (i * b * 64 % s)) % n);
      }
    }
  }
}

TEST(HallocHash, NamesEveryBlockOfASlabOnce) {
  for (std::uint32_t id = 0; id < halloc::size_count; ++id) {
    const std::uint32_t blocks = published().chunks(halloc::kind_of(id)).divisor() >> halloc::block_log(id);
    std::set<std::uint32_t> chunks;
    for (std::uint32_t c = 0; c < blocks; ++c) chunks.insert(published().first_probe(id, c));
    EXPECT_GE(chunks.size(), blocks * 99 / 100) << id;  // fewer only if N is not a multiple of K T (size_classes.hpp)
  }
}

halloc::Parameters slabs_of(std::uint64_t bytes) {
  halloc::Parameters parameters;
  parameters.slab_bytes = bytes;
  parameters.slab_share = 1;
  return parameters;
}

template <class A>
std::uint32_t slab_of(Rig<A>& rig, const void* block) {
  return static_cast<std::uint32_t>(rig.offset(block) >> rig.allocator.heads().slabs.shift);
}

template <class A>
class HallocTest : public ::testing::Test {};
using Forms = ::testing::Types<Halloc, HallocReworked>;
TYPED_TEST_SUITE(HallocTest, Forms);

TYPED_TEST(HallocTest, ReplacesAHeadExactlyAtTheBusyThreshold) {
  for (const std::uint64_t bytes : {16, 48, 64, 192, 256, 768, 2048, 3072}) {
    Rig<TypeParam> rig(8 * 64 * KiB, slabs_of(64 * KiB));
    const std::uint32_t id = halloc::size_id(static_cast<std::uint32_t>(bytes));
    const std::uint32_t busy = rig.allocator.heads().slabs.classes.thresholds(halloc::kind_of(id)).busy;
    const std::uint32_t blocks_per_head = ((busy - 1) >> halloc::block_log(id)) + 1;
    const std::uint32_t first = slab_of(rig, rig.malloc({bytes})[0]);
    for (std::uint32_t i = 1; i < blocks_per_head; ++i) ASSERT_EQ(slab_of(rig, rig.malloc({bytes})[0]), first) << i;
    EXPECT_NE(slab_of(rig, rig.malloc({bytes})[0]), first) << bytes;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TYPED_TEST(HallocTest, UsesASparseSlabForAnotherSizeOfItsKind) {
  Rig<TypeParam> rig(2 * 64 * KiB, [] {
    halloc::Parameters parameters = slabs_of(64 * KiB);
    parameters.cache_next_head = false;
    return parameters;
  }());
  // The head of 16-byte blocks is replaced once. Then all but one block of the old head are freed, so the slab is
  // sparse.
  std::vector<void*> blocks = malloc_until_null(rig, 16);
  std::vector<void*> old;
  for (void* block : blocks) {
    if (slab_of(rig, block) == slab_of(rig, blocks[0])) old.push_back(block);
  }
  void* const kept = old.back();
  old.pop_back();
  EXPECT_EQ(rig.malloc({128})[0], nullptr);
  rig.free(old);
  EXPECT_EQ(rig.malloc({256})[0], nullptr) << "another kind needs an empty slab";
  void* const large = rig.malloc({128})[0];
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(slab_of(rig, large), slab_of(rig, kept));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(HallocReworked, GivesAnEmptySlabToAnyKind) {
  Rig<HallocReworked> rig(3 * 64 * KiB, slabs_of(64 * KiB));
  for (const std::uint64_t bytes : {16, 48, 256, 384, 3000, 16}) {
    const std::vector<void*> blocks = malloc_until_null(rig, bytes);
    // A head is replaced at 83.5 %, but the last slabs fill further.
    EXPECT_GE(blocks.size() * halloc::block_bytes(halloc::size_id(static_cast<std::uint32_t>(bytes))),
              3 * 64 * KiB * 9 / 10)
        << bytes;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

// Returns how many sets contain the slab. The free set counts, too.
std::uint32_t sets_of(Rig<HallocReworked>& rig, std::uint32_t slab) {
  const halloc::Slabs& slabs = rig.allocator.heads().slabs;
  const halloc::SlabImage image = halloc::copy_slabs(rig.allocator.heads(), rig.stream());
  std::uint32_t sets = 0;
  for (std::uint32_t i = 0; i < halloc::Slabs::set_count; ++i) sets += image.in_set(slabs.set(i), slabs, slab) ? 1 : 0;
  return sets;
}

TEST(HallocReworked, KeepsASlabInOneSetWhileItEmpties) {
  Rig<HallocReworked> rig(3 * 16 * KiB, slabs_of(16 * KiB));
  std::vector<void*> blocks;
  const std::uint32_t slab = slab_of(rig, blocks.emplace_back(rig.malloc({16})[0]));
  for (;;) {
    void* const block = rig.malloc({16})[0];
    if (slab_of(rig, block) != slab) break;  // another slab is the head now
    blocks.push_back(block);
  }
  const std::uint32_t busy = rig.allocator.heads().slabs.classes.thresholds(0).busy;
  ASSERT_EQ(blocks.size(), busy);
  for (void* const block : blocks) {
    EXPECT_EQ(sets_of(rig, slab), 1u) << block;
    rig.free({block});
  }
  EXPECT_EQ(sets_of(rig, slab), 1u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TYPED_TEST(HallocTest, FindsTheSlabBeyondTheLastWholeWordOfASet) {
  Rig<TypeParam> rig(33 * 4 * KiB, slabs_of(4 * KiB));
  std::set<std::uint32_t> slabs;
  for (void* block : malloc_until_null(rig, 3072)) slabs.insert(slab_of(rig, block));
  EXPECT_EQ(slabs.size(), 33u);
}

TYPED_TEST(HallocTest, SendsLargeRequestsToTheDeviceHeap) {
  halloc::Parameters parameters;
  parameters.slab_bytes = 64 * KiB;
  EXPECT_EQ(halloc::slab_pool_bytes(1024 * KiB, parameters), 768 * KiB);
  EXPECT_EQ(TypeParam::device_heap_bytes(1024 * KiB, parameters), 256 * KiB);
  EXPECT_EQ(TypeParam::max_request(1024 * KiB, parameters), largest_in_device_heap(256 * KiB));
  Rig<TypeParam> rig(1024 * KiB, parameters);
  const std::vector<void*> blocks = rig.malloc({3072, 3073, 100000});
  EXPECT_FALSE(rig.device().in_device_heap(blocks[0]));
  EXPECT_TRUE(rig.device().in_device_heap(blocks[1]));
  EXPECT_TRUE(rig.device().in_device_heap(blocks[2]));
  rig.free(blocks);
  EXPECT_EQ(rig.malloc({std::uint64_t{1} << 40})[0], nullptr);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(Halloc, SaysWhichSlabsBearALargePool) {
  halloc::Parameters parameters;
  parameters.slab_share = 1;
  for (const std::uint64_t slab_bytes : {512, 2048}) {
    parameters.slab_bytes = slab_bytes;
    std::string refusal;
    try {
      Rig<Halloc> rig(12 * 1024 * KiB, parameters);
    } catch (const Unsupported& unsupported) {
      refusal = unsupported.what();
    }
    EXPECT_EQ(refusal, slab_bytes == 2048 ? ""
                                          : "halloc numbers at most 8191 slabs, and the pool has 24576 of 512 bytes; "
                                            "\"parameters\": {\"slab_bytes\": 2048} bears them");
  }
}

TYPED_TEST(HallocTest, IgnoresNullServesZeroBytesAndRefusesWhatSlabsCannotHold) {
  Rig<TypeParam> rig(64 * KiB, slabs_of(4 * KiB));
  rig.free({nullptr});
  EXPECT_NE(rig.malloc({0})[0], nullptr);
  EXPECT_EQ(rig.malloc({3073})[0], nullptr);
  EXPECT_THROW(Rig<TypeParam>(2 * KiB, slabs_of(4 * KiB)), Unsupported);
}

TYPED_TEST(HallocTest, ServesAWarpOfDifferentSizes) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    Rig<TypeParam> rig(64 * 4 * KiB, slabs_of(4 * KiB), seed);
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t lane = 0; lane < 32; ++lane) sizes.push_back(1 + lane * 96);
    const std::vector<void*> blocks = rig.malloc(sizes);
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0) << "seed " << seed;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
  }
}

// The published form keeps two slabs for each size that was once requested: a head and the next head.
TEST(Halloc, KeepsTheHeadsOfASizeForThatSize) {
  Rig<Halloc> rig(3 * 64 * KiB, slabs_of(64 * KiB));
  const std::vector<void*> small = malloc_until_null(rig, 16);
  EXPECT_GE(small.size(), 3 * 4096u * 83 / 100);
  rig.free(small);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  std::set<std::uint32_t> slabs;
  for (void* block : malloc_until_null(rig, 256)) slabs.insert(slab_of(rig, block));
  EXPECT_GE(slabs.size(), 1u);
  EXPECT_LE(slabs.size(), 2u);
}

TEST(HallocReworked, ResetsToTheFirstState) {
  Rig<HallocReworked> rig(4 * 64 * KiB, slabs_of(64 * KiB));
  const std::vector<void*> first = rig.malloc(std::vector<std::uint64_t>(100, 32), 1);
  static_cast<void>(malloc_until_null(rig, 256));
  rig.allocator.reset(rig.stream());
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  std::vector<void*> again = rig.malloc(std::vector<std::uint64_t>(100, 32), 1);
  EXPECT_EQ(std::set<void*>(first.begin(), first.end()), std::set<void*>(again.begin(), again.end()));
}

TYPED_TEST(HallocTest, SurvivesSeededStressOnTinyPools) {
  const std::vector<std::vector<std::uint64_t>> mixes = {
      {16}, {16, 32, 48}, {64, 128}, {16, 100, 192}, {48, 96, 16, 128}};
  for (std::uint64_t seed = 1; seed <= testing::seeds(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    StressPlan plan;
    plan.sizes = mixes[seed % mixes.size()];
    plan.threads = 2 + static_cast<std::uint32_t>(seed * 7 % 63);
    halloc::Parameters parameters = TypeParam::small_heap().parameters;
    parameters.cache_next_head = seed % 3 != 0;
    Rig<TypeParam> rig((1 + seed % 5) * 512, parameters, seed);
    ASSERT_EQ(testing::stress(rig, plan, seed), "");
  }
}

}  // namespace
}  // namespace allocbench
