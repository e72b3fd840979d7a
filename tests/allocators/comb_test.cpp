// These tests of Comb check size classes, how chunks move between classes and how runs are found, then use seeded
// stress on heaps of 4 to 10 chunks.
#include "allocators/comb/comb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/allocators/churn.hpp"
#include "tests/allocators/counted_mallocs.hpp"
#include "tests/allocators/stress.hpp"

namespace allocbench {
namespace {

using comb::SizeClass;
using testing::Rig;
using testing::served;

comb::Parameters chunks_of(std::uint64_t bytes) { return {.chunk_bytes = bytes, .least_chunks = 1}; }

TEST(CombSizeClass, IsTheSmallestThatHoldsTheRequest) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < SizeClass::count(14); ++i) {
    if (i != 1) slots.push_back(SizeClass{i, 14}.slot_bytes());
  }
  EXPECT_EQ((std::vector<std::uint32_t>(slots.begin(), slots.begin() + 8)),
            (std::vector<std::uint32_t>{16, 32, 48, 64, 96, 128, 192, 256}));
  EXPECT_EQ(slots.back(), 8192u);
  for (std::uint32_t bytes = 0; bytes <= 8192; ++bytes) {
    const auto expected = *std::lower_bound(slots.begin(), slots.end(), bytes);
    ASSERT_EQ((SizeClass{SizeClass::of(bytes), 14}.slot_bytes()), expected) << bytes;
    ASSERT_EQ(expected % 16, 0u);
  }
}

TEST(CombSizeClass, EverySlotHasABitAndNoOther) {
  for (const std::uint32_t chunk_log2 : {8u, 10u, 14u, 19u, 22u}) {
    for (std::uint32_t i = 0; i < SizeClass::count(chunk_log2); ++i) {
      const SizeClass size_class{i, chunk_log2};
      if (i == 1) continue;
      ASSERT_EQ(size_class.slots(), (1u << chunk_log2) / size_class.slot_bytes());
      ASSERT_GE(size_class.slots(), 2u);
      std::uint32_t bits = 0;
      for (std::uint32_t word = 0; word < size_class.words(); ++word) {
        bits += simt::popcount(~size_class.surplus(word));
      }
      ASSERT_EQ(bits, size_class.slots());
      ASSERT_LE(1u << size_class.word_log2(), simt::popcount(~size_class.surplus(0)));
      ASSERT_LE(size_class.word_log2() < 5 ? 1u : 1u << size_class.words_log2(), size_class.words());
      for (std::uint32_t slot = 0; slot < size_class.slots(); slot += 1 + slot / 7) {
        const std::uint32_t begin = slot * size_class.slot_bytes();
        ASSERT_EQ(size_class.slot_at(begin), slot);
        ASSERT_EQ(size_class.slot_at(begin + size_class.slot_bytes() - 1), slot);
      }
    }
  }
}

TEST(Comb, AWarpTakesOneWordInOneGo) {
  // In lockstep, the lanes of the warp call together.
  Rig<Comb> rig(1 << 20, {}, 1, 4, simt::StrategyKind::lockstep);
  rig.free(rig.malloc(std::vector<std::uint64_t>(32, 64)));
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(32, 64));
  for (std::uint32_t i = 1; i < 32; ++i) EXPECT_EQ(rig.offset(blocks[i]) - rig.offset(blocks[0]), i * 64) << i;
}

// Returns the operations on shared words of one warp, whose 32 lanes request `bytes` each.
std::uint64_t operations_of_a_warp(Rig<Comb>& rig, std::uint64_t bytes, std::vector<void*>& got) {
  testing::CountedMallocs mallocs = testing::count_mallocs(rig, bytes, 32, 32);
  got = std::move(mallocs.blocks);
  return mallocs.operations;
}

TEST(Comb, AWarpOfOneSizeTakesOneOperation) {
  for (const std::uint64_t bytes : {16u, 48u, 64u, 256u}) {
    Rig<Comb> rig(1 << 20, {}, 1, 4, simt::StrategyKind::lockstep);
    std::vector<void*> blocks;
    operations_of_a_warp(rig, bytes, blocks);
    rig.free(blocks);
    EXPECT_EQ(operations_of_a_warp(rig, bytes, blocks), 1u) << bytes;
    EXPECT_EQ(served(blocks), 32u);
  }
}

TEST(Comb, TheFirstRequestsOfAPreparedPoolTakeOneOperation) {
  for (const std::uint64_t bytes : {16u, 48u, 256u}) {
    Rig<Comb> rig(16 << 20, {.chunk_bytes = 16384, .prepared = 8}, 1, 4, simt::StrategyKind::lockstep);
    std::vector<void*> blocks;
    EXPECT_EQ(operations_of_a_warp(rig, bytes, blocks), 1u) << bytes;
    EXPECT_EQ(served(blocks), 32u);
    rig.allocator.reset(rig.stream());
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    EXPECT_EQ(comb::Inspection(rig.stream(), rig.allocator.space()).taken_slots(), 0u);
  }
}

TEST(Comb, PreparesEachClassAlikeAndNoMoreThanItsShare) {
  for (const std::uint64_t chunks : {7u, 8u, 64u, 333u, 5000u}) {
    Rig<Comb> rig(chunks * 1024, {.chunk_bytes = 1024, .least_chunks = 1, .prepared = 4});
    const comb::Inspection inspection(rig.stream(), rig.allocator.space());
    std::uint64_t prepared = 0;
    std::set<std::uint32_t> shares;
    for (std::uint32_t i = 0; i < SizeClass::count(10); ++i) {
      const std::uint32_t share = inspection.chunks_with(comb::chunk_of_class(i));
      prepared += share;
      if (i != 1) shares.insert(share);
    }
    EXPECT_GT(prepared, 0u) << chunks;
    EXPECT_LE(prepared, chunks / 4);
    EXPECT_LE(shares.size(), 2u) << chunks;  // the last classes may get none
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TEST(Comb, EveryEntryAsksFirstForAChunkOfThePool) {
  for (const std::uint64_t chunks : {1u, 3u, 64u, 333u, 5000u}) {
    for (const std::uint64_t prepared : {0u, 1u, 8u}) {
      Rig<Comb> rig(chunks * 256, {.chunk_bytes = 256, .least_chunks = 1, .prepared = prepared});
      const auto& space = rig.allocator.space();
      for (std::uint32_t size_class = 0; size_class < SizeClass::count(8); ++size_class) {
        std::set<std::uint32_t> asked;
        for (std::uint32_t entry = 0; entry < 1u << space.directory_log2; ++entry) {
          asked.insert(comb::own_chunk(space, size_class, entry));
        }
        ASSERT_LT(*asked.rbegin(), chunks);
        ASSERT_GE(asked.size(), space.own_chunks);
      }
    }
  }
}

// HundredMallocs makes a hundred mallocs in each lane and counts the lane's operations on shared words.
struct HundredMallocs {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Comb allocator, std::uint64_t* operations) const {
    simt::CountingThread<Thread> counting(thread);
    for (std::uint32_t i = 0; i < 100; ++i) allocator.malloc(counting, 16);
    operations[thread.rank_in_grid()] = counting.counts().operations();
  }
};

TEST(Comb, ALoneLaneTakesAHundredBlocksInHardlyMoreOperations) {
  Rig<Comb> rig(64 << 20, {.chunk_bytes = 65536}, 1, 4, simt::StrategyKind::lockstep);
  simt::Buffer<std::uint64_t> operations(8);
  simt::launch(rig.stream(), {8, 1}, HundredMallocs{}, rig.allocator, operations.data());
  for (const std::uint64_t count : operations.to_host(rig.stream())) EXPECT_LT(count, 130u);
  EXPECT_EQ(comb::Inspection(rig.stream(), rig.allocator.space()).taken_slots(), 800u);
}

TEST(Comb, LoneLanesOf4To8KiBBeginInOpenWordsOfAPreparedPool) {
  for (const std::uint64_t bytes : {4096u, 8192u}) {
    Rig<Comb> rig(std::size_t{2} << 30, {}, 1, 132, simt::StrategyKind::lockstep);
    const testing::CountedMallocs mallocs = testing::count_mallocs(rig, bytes, 960, 1);
    EXPECT_EQ(served(mallocs.blocks), 960u) << bytes;
    EXPECT_LE(mallocs.operations, 1200u) << bytes;
  }
}

TEST(Comb, AWrongGuessLeavesNothingBehind) {
  Rig<Comb> rig(1 << 20, {}, 1, 4, simt::StrategyKind::lockstep);
  // All chunks serve 64 bytes, and one block of each is in use. So the first claim for 128 bytes guesses a wrong chunk.
  const std::vector<void*> others = rig.malloc(std::vector<std::uint64_t>((1 << 20) / 64, 64), 256);
  std::vector<void*> frees;
  std::set<std::ptrdiff_t> kept;
  for (void* block : others) {
    if (block != nullptr && !kept.insert(rig.offset(block) >> 14).second) frees.push_back(block);
  }
  ASSERT_EQ(kept.size(), 64u);
  rig.free(frees, 256);
  std::vector<void*> blocks;
  EXPECT_GT(operations_of_a_warp(rig, 128, blocks), 3u);
  EXPECT_EQ(served(blocks), 0u);
  EXPECT_EQ(comb::Inspection(rig.stream(), rig.allocator.space()).taken_slots(), 64u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(Comb, ServesEverySizeUpToThePool) {
  Rig<Comb> rig(1 << 20);
  for (const std::uint64_t bytes : {0u, 1u, 16u, 17u, 48u, 8191u, 8192u, 8193u, 16384u, 16385u, 500'000u, 1u << 20}) {
    const std::vector<void*> blocks = rig.malloc({bytes});
    ASSERT_NE(blocks[0], nullptr) << bytes;
    EXPECT_EQ(rig.offset(blocks[0]) % 16, 0);
    EXPECT_LE(rig.offset(blocks[0]) + static_cast<std::ptrdiff_t>(bytes), 1 << 20);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << bytes;
    rig.free(blocks);
  }
  for (const std::uint64_t bytes : {(1ull << 20) + 1, 1ull << 40, ~0ull}) {
    EXPECT_EQ(rig.malloc({bytes})[0], nullptr) << bytes;
  }
}

TEST(Comb, UsesEverySlotOfThePool) {
  for (const std::uint64_t bytes : {16u, 48u, 64u, 96u, 512u, 1024u}) {
    const std::size_t per_chunk = 2048 / bytes;
    Rig<Comb> rig(16 * 2048, chunks_of(2048));
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(16 * per_chunk + 40, bytes), 64);
    EXPECT_EQ(served(blocks), 16 * per_chunk) << bytes;
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 16 * per_chunk + 1);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    rig.free(blocks);
    EXPECT_EQ(comb::Inspection(rig.stream(), rig.allocator.space()).taken_slots(), 0u);
  }
}

TEST(Comb, MemoryMovesBetweenClasses) {
  Rig<Comb> rig(1 << 18);
  for (const std::uint64_t bytes : {16u, 2048u, 48u, 40'000u, 64u, 1u << 18, 16u}) {
    const std::uint64_t unit = bytes <= 2048 ? bytes : (bytes + 4095) / 4096 * 4096;
    const std::size_t count = (1 << 18) / unit;
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(count, bytes));
    // Lanes that take runs at the same time may leave a gap that is too small for another run.
    const std::size_t gaps = bytes > 4096 ? 1 : 0;
    EXPECT_GE(static_cast<double>(served(blocks) + gaps), 0.95 * static_cast<double>(count)) << bytes;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    rig.free(blocks, 20);
  }
}

// A chunk that is missing from its class's list is found only through the directory or by a scan of all chunks.
TEST(Comb, EveryChunkOfAClassIsInItsList) {
  Rig<Comb> rig(2 << 20, chunks_of(8192), 1, 132, simt::StrategyKind::lockstep);
  for (int i = 0; i < 4; ++i) rig.malloc(std::vector<std::uint64_t>(8192, 64), 256);
  const auto& space = rig.allocator.space();
  const std::uint32_t index = SizeClass::of(64);
  std::set<std::uint32_t> listed;
  for (std::uint32_t i = 0; i < 1u << space.directory_log2; ++i) listed.insert(space.member(index, i));
  for (std::uint32_t chunk = comb::first_chunk; chunk < space.chunks + comb::first_chunk; ++chunk) {
    if (space.table[chunk] != comb::chunk_of_class(index)) continue;
    EXPECT_EQ(listed.count(chunk), 1u) << "chunk " << chunk;
  }
}

TEST(Comb, LeavesChunksWithLiveBlocksAlone) {
  Rig<Comb> rig(16 * 1024, chunks_of(1024));
  const std::vector<void*> small = rig.malloc(std::vector<std::uint64_t>(16 * 64, 16));
  ASSERT_EQ(served(small), 16u * 64);
  // One block stays in each chunk but the last four.
  std::vector<void*> frees;
  std::set<std::ptrdiff_t> kept;
  for (void* block : small) {
    const std::ptrdiff_t chunk = rig.offset(block) / 1024;
    if (chunk < 12 && kept.insert(chunk).second) continue;
    frees.push_back(block);
  }
  rig.free(frees);
  EXPECT_EQ(served(rig.malloc(std::vector<std::uint64_t>(10, 512))), 8u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(Comb, SmallChunksForSmallPools) {
  EXPECT_EQ(comb::Space<comb::Bug::none>::chunk_log2_for(std::size_t{8} << 30, {}), 19u);
  EXPECT_EQ(comb::Space<comb::Bug::none>::chunk_log2_for(1 << 20, {}), 14u);
  EXPECT_EQ(comb::Space<comb::Bug::none>::chunk_log2_for(100, {}), 8u);
  EXPECT_THROW(Rig<Comb>(100), Unsupported);
  EXPECT_NO_THROW(Rig<Comb>(256));
}

TEST(Comb, MetadataIsSmall) {
  Rig<Comb> rig(64 << 20);
  EXPECT_LT(static_cast<double>(rig.arena().metadata_bytes()), 0.017 * (64 << 20));
}

TEST(Comb, ResetMakesNew) {
  Rig<Comb> rig(1 << 18);
  for (const std::uint64_t bytes : {16u, 512u, 1u << 17}) {
    rig.malloc(std::vector<std::uint64_t>(100, bytes));
    rig.allocator.reset(rig.stream());
    EXPECT_NE(rig.malloc({1 << 18})[0], nullptr);
    rig.allocator.reset(rig.stream());
  }
}

TEST(Comb, SurvivesSeededStress) {
  const std::vector<std::vector<std::uint64_t>> mixes = {{16},       {1, 24, 48},   {64, 128, 200}, {16, 300, 1050},
                                                         {500, 700}, {16, 33, 128}, {16, 60, 700}};
  const std::uint64_t last = testing::seeds(150);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::StressPlan plan;
    plan.sizes = mixes[seed % mixes.size()];
    plan.threads = 2 + static_cast<std::uint32_t>(seed * 7 % 63);
    const std::uint64_t chunk_bytes = seed % 2 == 0 ? 256 : 1024;
    Rig<Comb> rig(chunk_bytes * (4 + seed % 5), chunks_of(chunk_bytes), seed);
    ASSERT_EQ(testing::stress(rig, plan, seed), "");
    // Everything is free again.
    ASSERT_NE(rig.malloc({chunk_bytes * (4 + seed % 5)})[0], nullptr);
  }
}

TEST(Comb, SurvivesSeededChurn) {
  const std::uint64_t last = testing::seeds(60);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rig<Comb> rig(1024 * (4 + seed % 7), chunks_of(1024), seed);
    const testing::ChurnResult result =
        testing::churn(rig.allocator, rig.stream(), seed, {.sizes = {8, 16, 40, 64, 200, 1000}});
    ASSERT_EQ(result.broken, 0u);
    ASSERT_GT(result.served, 0u);
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    ASSERT_EQ(comb::Inspection(rig.stream(), rig.allocator.space()).taken_slots(), 0u);
  }
}

}  // namespace
}  // namespace allocbench
