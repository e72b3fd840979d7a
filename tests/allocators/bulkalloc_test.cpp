// These tests of BulkAlloc cover its semaphore under contention, merges, the places of blocks, and pools of any size.
#include "allocators/bulkalloc/bulkalloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/allocators/fidelity/rig.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;

using Rig = FidelityRig<BulkAlloc>;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// A group divides its requests into takes, batches and waits as its lanes would do one after the other.
TEST(BulkAlloc, AGroupSharesAsItsLanesWouldInTurn) {
  using bulkalloc::Semaphore;
  const auto one_by_one = [](Semaphore::State now, std::uint32_t lanes, std::uint32_t batch) {
    Semaphore::Shares shares{0, 0, 0};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (now.there + now.expected - now.reserved < 1) {
        ++shares.make;
        now.expected += batch - 1;
      } else if (now.there >= 1) {
        ++shares.take;
        --now.there;
      } else {
        ++shares.wait;
        ++now.reserved;
      }
    }
    return shares;
  };
  for (int there = 0; there < 5; ++there) {
    for (int expected = 0; expected < 5; ++expected) {
      for (int reserved = 0; reserved <= there + expected + 1; ++reserved) {
        for (std::uint32_t lanes = 1; lanes <= 32; ++lanes) {
          const Semaphore::State now{there, expected, reserved};
          const Semaphore::Shares shares = Semaphore::shares_of(now, lanes, 2);
          const Semaphore::Shares in_turn = one_by_one(now, lanes, 2);
          EXPECT_EQ(shares.take, in_turn.take) << there << " " << expected << " " << reserved << " " << lanes;
          EXPECT_EQ(shares.make, in_turn.make) << there << " " << expected << " " << reserved << " " << lanes;
          EXPECT_EQ(shares.wait, in_turn.wait) << there << " " << expected << " " << reserved << " " << lanes;
        }
      }
    }
  }
}

// One lane of a group makes the compare-exchange for all lanes of the group. If each lane made its own, the lost
// compare-exchanges per lane would grow with the number of lanes. They would also grow if a lane retried with the value
// that it read before its pause.
TEST(BulkAlloc, ManyLanesThatAskForPagesLoseFewExchanges) {
  constexpr std::uint32_t lanes = 2048;
  Rig rig(lanes * std::size_t{8192}, {}, 1, 4, simt::StrategyKind::round_robin);
  const Calls calls = rig.counted_malloc(std::vector<std::uint64_t>(lanes, 8192), 256);
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 0);
  EXPECT_LT(calls.sum().lost, 6 * lanes);
  EXPECT_LT(rig.counted_free(calls.blocks, 256).sum().lost, lanes);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// TakeAndGiveBack takes a page and frees it, six times.
struct TakeAndGiveBack {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BulkAlloc allocator, std::uint32_t* nulls) const {
    for (int i = 0; i < 6; ++i) {
      void* const block = allocator.malloc(thread, 4096);
      if (block == nullptr) thread.atomic(*nulls).fetch_add(1u, simt::relaxed);
      allocator.free(thread, block);
    }
  }
};

// At most 64 of 256 pages are in use. While a thread merges halves up to the root, it holds their units. If it does not
// announce the merged block, other threads may get null.
TEST(BulkAlloc, NobodyFailsBecauseAnotherThreadMerges) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(40); ++seed) {
    for (const auto strategy : {simt::StrategyKind::random, simt::StrategyKind::round_robin}) {
      testing::Rig<BulkAlloc> rig(mebibyte, {}, seed, 4, strategy);
      simt::Buffer<std::uint32_t> nulls(1);
      nulls.from_host(rig.stream(), {0});
      simt::launch(rig.stream(), {2, 32}, TakeAndGiveBack{}, rig.allocator, nulls.data());
      EXPECT_EQ(nulls.to_host(rig.stream())[0], 0u) << "seed " << seed;
      EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
    }
  }
}

// Lane 0 frees one half of a block, lane 1 takes the half's unit, and lane 2 frees the other half. Lane 1 returns the
// unit much later, as a slow merge does whose buddy is not free. Meanwhile lane 1 changes the word again and again,
// because the executor would let lane 2 sleep as long as the word does not change.
struct FreeHalvesAroundAHeldUnit {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BulkAlloc allocator, void** halves, std::uint32_t* done) const {
    bulkalloc::Semaphore& pages = allocator.small().tree.blocks[0];
    const auto lanes_done = thread.atomic(*done);
    const std::uint32_t lane = thread.rank_in_grid();
    if (lane > 2) return;
    while (lanes_done.load(simt::acquire) != lane) thread.spin_hint();
    if (lane != 1) {
      if (lane == 0) allocator.free(thread, halves[0]);
      if (lane == 2) allocator.free(thread, halves[1]);
      lanes_done.fetch_add(1, simt::release);
    } else {
      EXPECT_TRUE(pages.try_wait(thread, 1));
      lanes_done.fetch_add(1, simt::release);
      for (int i = 0; i < 1000; ++i) {
        thread.atomic(pages.word).fetch_xor(bulkalloc::Semaphore::reserved, simt::relaxed);
        thread.spin_hint();
      }
      pages.signal(thread, 1, 0);
    }
  }
};

TEST(BulkAlloc, TwoHalvesAreMergedHoweverLongAnotherThreadHoldsAUnit) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    testing::Rig<BulkAlloc> rig(mebibyte, {}, seed);
    const std::vector<void*> blocks{rig.malloc({4096})[0], rig.malloc({4096})[0]};
    ASSERT_EQ(rig.offset(blocks[0]) ^ rig.offset(blocks[1]), 4096) << "halves of one block";
    simt::Buffer<void*> halves(2);
    halves.from_host(rig.stream(), blocks);
    simt::Buffer<std::uint32_t> done(1);
    done.from_host(rig.stream(), {0});
    simt::launch(rig.stream(), {1, 32}, FreeHalvesAroundAHeldUnit{}, rig.allocator, halves.data(), done.data());
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
    EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_blocks(8), 1u) << "the root";
  }
}

struct NoBatch {
  template <class Group>
  SIMT_FN std::uint32_t operator()(const Group&, std::uint32_t) const {
    ADD_FAILURE() << "another lane makes it";
    return bulkalloc::no_unit;
  }
};

// In WaitForABatch, lane 0 makes a batch of two units, slowly. Lane 1 waits for the second unit.
struct WaitForABatch {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, bulkalloc::Semaphore* units, std::uint32_t* time,
                          simt::OperationCounts* counts) const {
    const auto now = thread.atomic(*time);
    if (thread.rank_in_grid() == 0) {
      EXPECT_EQ(units->ask(thread, units->look(thread), 1, 2), bulkalloc::Semaphore::Answer::make);
      for (int i = 0; i < 1000; ++i) {
        now.fetch_add(1, simt::release);
        thread.spin_hint();
      }
      units->signal(thread, 1, 1);
    } else if (thread.rank_in_grid() == 1) {
      while (now.load(simt::acquire) == 0) thread.spin_hint();
      simt::CountingThread<Thread> counting(thread);
      EXPECT_EQ(bulkalloc::reserve(counting, thread.converged(), *units, 2, NoBatch{}), bulkalloc::unit_somewhere);
      *counts = counting.counts();
    }
  }
};

// The number of expected units equals the number of requested units. With the paper's listing, lane 1 would reserve and
// give up again and again.
TEST(BulkAlloc, AThreadThatWaitsForExpectedUnitsLeavesTheWordAlone) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(20); ++seed) {
    testing::Rig<BulkAlloc> rig(mebibyte, {}, seed);
    simt::Buffer<bulkalloc::Semaphore> units(1);
    units.from_host(rig.stream(), {{0}});
    simt::Buffer<std::uint32_t> time(1);
    time.from_host(rig.stream(), {0});
    simt::Buffer<simt::OperationCounts> counts(1);
    simt::launch(rig.stream(), {1, 32}, WaitForABatch{}, units.data(), time.data(), counts.data());
    const simt::OperationCounts waiter = counts.to_host(rig.stream())[0];
    // The waiter reserves (1 compare-exchange), ends the reservation (1 subtraction) and takes the unit (1
    // compare-exchange).
    EXPECT_EQ(waiter.updates, 1u) << "seed " << seed;
    EXPECT_EQ(waiter.compare_exchanges, 2u) << "seed " << seed;
    EXPECT_EQ(units.to_host(rig.stream())[0].word, 0u) << "seed " << seed;
  }
}

// The test compares the numbers of bins per chunk and of slots per bin with the paper.
TEST(BulkAlloc, SlotsAsPublished) {
  bulkalloc::Layout layout;
  layout.page_log2 = 12;
  layout.chunk_height = 6;
  EXPECT_EQ(layout.bins(), 62u);
  EXPECT_EQ(layout.special_bins(), 2u);
  EXPECT_EQ(layout.sizes(), 7u);
  const std::vector<std::uint32_t> slots{256, 128, 64, 32, 15, 7, 3, 1};
  for (std::uint32_t i = 0; i < slots.size(); ++i) EXPECT_EQ(layout.slots(4 + i), slots[i]) << (16 << i);
  layout.chunk_height = 7;
  EXPECT_EQ(layout.special_bins(), 4u);
  EXPECT_EQ(layout.bins(), 124u);
}

TEST(BulkAlloc, EverySlotIsFoundAgainByItsAddress) {
  std::vector<std::byte> pool(std::size_t{512} << 10);
  bulkalloc::Layout layout;
  layout.base = pool.data();
  layout.page_log2 = 12;
  layout.chunk_height = 6;
  for (std::uint32_t size = 4; size < 11; ++size) {
    std::set<std::size_t> offsets;
    for (std::uint32_t page = 64 + 2; page < 128; ++page) {
      for (std::uint32_t slot = 0; slot < layout.slots(size); ++slot) {
        const auto offset = static_cast<std::size_t>(layout.slot(page, size, slot) - layout.base);
        EXPECT_NE(offset % 4096, 0u);
        EXPECT_TRUE(offsets.insert(offset).second);
        const auto place = layout.place_of(offset);
        EXPECT_EQ(place.page, page);
        EXPECT_EQ(place.offset >> size, slot);
      }
    }
  }
}

TEST(BulkAlloc, PoolsOfAnySize) {
  for (const std::size_t pages : {64u, 65u, 100u, 127u, 129u}) {
    Rig rig(pages * 4096);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    std::vector<void*> blocks;
    for (void* each = rig.malloc({4096})[0]; each != nullptr; each = rig.malloc({4096})[0]) blocks.push_back(each);
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), pages);
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    EXPECT_NE(rig.malloc({BulkAlloc::max_request(pages * 4096, {})})[0], nullptr);
  }
}

TEST(BulkAlloc, RefusesChunksThatDoNotFit) {
  EXPECT_THROW(Rig(mebibyte / 8), Unsupported);
  EXPECT_THROW(Rig(mebibyte, {.chunk_bytes = 8192}), Unsupported);
}

}  // namespace
}  // namespace allocbench
