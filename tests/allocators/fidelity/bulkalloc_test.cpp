// BulkAlloc: operations on shared words, worked by hand from Gelado & Garland 2019 as docs and headers reconstruct it.
#include "allocators/bulkalloc/bulkalloc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

using Rig = FidelityRig<BulkAlloc>;

// 256 pages: the root has height 8; four chunks, one arena.
constexpr std::size_t mebibyte = std::size_t{1} << 20;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Semaphore: word 1 load, 1 compare-exchange.
constexpr Ops wait{.loads = 1, .compare_exchanges = 1};
constexpr Ops signal{.updates = 1};
// Node 1 load, 1 compare-exchange.
constexpr Ops take_node{.loads = 1, .compare_exchanges = 1};
// Node and parent locked and unlocked: 4; three nodes looked at.
constexpr Ops correct_parent{.loads = 3, .updates = 4};
// One more is locked and unlocked, three more looked at.
constexpr Ops correct_next{.loads = 3, .updates = 2};
constexpr Ops change{.updates = 1};
// Buddy available 1 OR; its parent becomes partial.
const Ops split_root = Ops{.updates = 1} + correct_parent + change + signal;
// The grandparent is partial already.
const Ops split = split_root + correct_next;
// A unit 1 load, 1 subtraction; one of twice the size is expected 1 addition; the buddy; the parent locked, changed,
// unlocked.
const Ops merge = Ops{.loads = 1, .updates = 2} + take_node + Ops{.updates = 3};
// The root becomes available 1 OR.
const Ops open_root = Ops{.updates = 1} + signal;
// Exchange and store.
constexpr Ops lock_and_unlock{.stores = 1, .updates = 1};
// First link 1 load; next, previous, first 3 stores. A bin also has a place.
constexpr Ops insert_chunk{.loads = 1, .stores = 3};
constexpr Ops insert_bin{.loads = 1, .stores = 4};
// Next and previous 2 loads; first 1 store.
constexpr Ops remove_chunk{.loads = 2, .stores = 1};
constexpr Ops remove_bin{.loads = 2, .stores = 2};
// A header: 16 words of bits.
constexpr Ops bits{.stores = 16};
// Reader enters and leaves 2 additions; first bin 1 load; its free slots 1 load, 1 compare-exchange.
constexpr Ops claim{.loads = 2, .updates = 2, .compare_exchanges = 1};
// First chunk, its free bins, a word of bits 3 loads; bit 1 OR, free bins 1 subtraction; cut: free 1 load, first and
// previous 2 stores; whole chunks 1 load.
const Ops take_bin = lock_and_unlock + Ops{.loads = 5, .stores = 2, .updates = 2};
// The bin that owns the block 1 load, bit 1 AND, free slots 1 load and 1 compare-exchange.
constexpr Ops give_slot{.loads = 2, .updates = 1, .compare_exchanges = 1};

TEST(BulkAllocFidelity, OnePageAndItsHalves) {
  Rig rig(mebibyte);
  const Calls calls = rig.counted_malloc({4096});
  // Heights 0 to 7 have nothing: the lane makes a batch of each. The root is taken and split eight times. Height 1
  // store.
  EXPECT_EQ(calls.of_lane[0], wait * 9 + take_node + split_root + split * 7 + (Ops{.stores = 1}));
  const bulkalloc::Inspection tree(rig.stream(), rig.allocator.small());
  for (std::uint32_t height = 0; height < 8; ++height) EXPECT_EQ(tree.free_blocks(height), 1u) << height;
  // Height 1 load; eight merges; the root.
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], (Ops{.loads = 1}) + merge * 8 + open_root);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, ThePageBesideIt) {
  Rig rig(mebibyte);
  rig.malloc({4096});
  // Eight partial nodes from the root on, a busy page, the other one. Its parent has no room any more; the next one
  // has.
  EXPECT_EQ(rig.counted_malloc({4096}).of_lane[0],
            wait + (Ops{.loads = 8 + 1}) + take_node + correct_parent + change + correct_next + (Ops{.stores = 1}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, TheFirstSmallBlockAndTheLast) {
  Rig rig(mebibyte);
  const Calls calls = rig.counted_malloc({16});
  // Tree: heights 6 and 7 have nothing; the root, split twice.
  const Ops chunk = wait * 3 + take_node + split_root + split;
  // Header; listed as a whole chunk 1 addition.
  const Ops add_chunk = bits + (Ops{.stores = 1}) + lock_and_unlock + insert_chunk + (Ops{.updates = 1});
  // No longer whole 1 subtraction.
  const Ops bin = wait + chunk + add_chunk + signal + take_bin + (Ops{.updates = 1});
  // Free slots and list 2 stores.
  const Ops add_bin = bits + (Ops{.stores = 2}) + lock_and_unlock + insert_bin;
  // The lane keeps a slot of the bin that it made: no claim, 1 OR.
  EXPECT_EQ(calls.of_lane[0], wait + bin + add_bin + signal + (Ops{.updates = 1}));
  EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_bins(0), 61u);

  // The other 255 units; place 1 load.
  const Ops retire = wait + lock_and_unlock + (Ops{.loads = 1}) + remove_bin;
  // Queue 1 load, link 1 store, 1 compare-exchange; mark set and cleared, queue taken 3 exchanges; mutex; epoch 1 load
  // and 1 exchange; readers that left 1 load and 1 store; link 1 load.
  const Ops readers = Ops{.loads = 4, .stores = 2, .updates = 4, .compare_exchanges = 1} + lock_and_unlock;
  // List and place 2 loads.
  const Ops settle = Ops{.loads = 2} + lock_and_unlock;
  // Bit and count 2 updates; the units of all 62 bins, looked at before; the tree expects a chunk 1 update; two merges
  // and the root.
  const Ops give_bin =
      lock_and_unlock + (Ops{.loads = 1, .updates = 3}) + signal + wait + remove_chunk + merge * 2 + open_root;
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_slot + retire + readers + settle + give_bin);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, ASmallBlockAmongOthers) {
  Rig rig(mebibyte);
  rig.malloc({16});
  const Calls calls = rig.counted_malloc({16});
  // The lane's first slot is in use: 2 ORs.
  EXPECT_EQ(calls.of_lane[0], wait + claim + (Ops{.updates = 2}));
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_slot + signal);
}

TEST(BulkAllocFidelity, AWarp) {
  Rig rig(mebibyte);
  rig.malloc({16});
  const Calls calls = rig.warp_mallocs(16);
  // One lane waits and claims for all; then each begins at a slot of its own, of which one is in use.
  EXPECT_EQ(calls.sum(), wait + claim + (Ops{.updates = 32 + 1}));
  EXPECT_EQ(std::set<void*>(calls.blocks.begin(), calls.blocks.end()).size(), 32u);
  // Each lane: owner of the block 1 load, bit 1 AND. One lane: free slots, signal.
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(),
            (Ops{.loads = 1, .updates = 1}) * 32 + (Ops{.loads = 1, .compare_exchanges = 1}) + signal);
}

// Nobody keeps more of a batch than it has: ten groups of three lanes and one of two make a bin each.
TEST(BulkAllocFidelity, AWarpOfBlocksOfWhichABinHasThree) {
  Rig rig(mebibyte);
  const std::vector<void*> blocks = rig.warp_mallocs(1024).blocks;
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
  EXPECT_EQ(bulkalloc::Inspection(rig.stream(), rig.allocator.small()).free_bins(0), 62u - 11u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, AFullBin) {
  Rig rig(mebibyte);
  for (int i = 0; i < 7; ++i) rig.warp_mallocs(16);
  const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(31, 16));
  // 255 slots are in use. The last one: seven words of set bits and what the search passes depend on the lane; not
  // more than one OR per word and one more. The bin is unlinked: lock, free slots and place 2 loads, links, place.
  const Calls last = rig.counted_malloc({16});
  const Ops unlink = lock_and_unlock + (Ops{.loads = 2}) + remove_bin;
  const Ops readers = Ops{.loads = 4, .stores = 2, .updates = 4, .compare_exchanges = 1} + lock_and_unlock;
  // List, place, free slots 3 loads; place 1 store.
  const Ops settle = Ops{.loads = 3, .stores = 1} + lock_and_unlock;
  Ops expected = wait + claim + unlink + readers + settle;
  EXPECT_LE(last.of_lane[0].updates, expected.updates + 9);
  expected.updates = last.of_lane[0].updates;
  EXPECT_EQ(last.of_lane[0], expected);
  // A slot of a full bin comes back: signal; under the lock 1 compare-exchange, place 1 load; listed again.
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0],
            give_slot + signal + lock_and_unlock + (Ops{.loads = 1}) + insert_bin);
  rig.free(blocks);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(BulkAllocFidelity, AnExhaustedPool) {
  Rig rig(mebibyte);
  EXPECT_EQ(rig.malloc({mebibyte})[0], rig.arena().pool().base);
  // Nine heights: a batch that nobody can make, which is not expected any more.
  const Calls page = rig.counted_malloc({4096});
  EXPECT_EQ(page.blocks[0], nullptr);
  EXPECT_EQ(page.of_lane[0], (wait + signal) * 9);
  // Slots, bins, heights 6 to 8; then one look each for a unit that came back meanwhile.
  const Calls small = rig.counted_malloc({16});
  EXPECT_EQ(small.blocks[0], nullptr);
  EXPECT_EQ(small.of_lane[0], (wait + signal) * 5 + (Ops{.loads = 2}));
  EXPECT_EQ(rig.malloc(std::vector<std::uint64_t>(32, 64)), std::vector<void*>(32, nullptr));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// What lanes decide together is what they would decide one after the other.
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

// With a compare-exchange per lane, requests and frees of 512 lanes lost 1,000 and 200 of them each, and ever more
// with more lanes. Where a lane tried with what it had seen before its pause, 2,048 lanes lost 11 each, and 8,192 lost
// 41.
TEST(BulkAlloc, ManyLanesThatAskForPagesLoseFewExchanges) {
  constexpr std::uint32_t lanes = 2048;
  Rig rig(lanes * std::size_t{8192}, {}, 1, 4, simt::StrategyKind::round_robin);
  const Calls calls = rig.counted_malloc(std::vector<std::uint64_t>(lanes, 8192), 256);
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 0);
  EXPECT_LT(calls.sum().lost, 6 * lanes);
  EXPECT_LT(rig.counted_free(calls.blocks, 256).sum().lost, lanes);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// Takes a page and gives it back, several times.
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

// 64 pages of 256 are in use at most. While a thread merges halves up to the root, their units are with it: without a
// promise to bring the merged block the others met null in half of the runs.
TEST(BulkAlloc, NobodyFailsBecauseAnotherThreadMerges) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
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

// Lane 0 frees one half of a block, lane 1 takes the half's unit, lane 2 frees the other half. Lane 1 brings the unit
// back much later, as a slow merge does whose buddy is not free. Meanwhile others begin and end to wait: the executor
// would let lane 2 sleep as long as the word does not change.
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
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
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

// Lane 0 makes a batch of two units, slowly. Lane 1 waits for the second one.
struct WaitForABatch {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, bulkalloc::Semaphore* units, std::uint32_t* time,
                          simt::OperationCounts* counts) const {
    const auto now = thread.atomic(*time);
    if (thread.rank_in_grid() == 0) {
      EXPECT_FALSE(units->wait(thread, 1, 2));
      for (int i = 0; i < 1000; ++i) {
        now.fetch_add(1, simt::release);
        thread.spin_hint();
      }
      units->signal(thread, 1, 1);
    } else if (thread.rank_in_grid() == 1) {
      while (now.load(simt::acquire) == 0) thread.spin_hint();
      simt::CountingThread<Thread> counting(thread);
      EXPECT_TRUE(units->wait(counting, 1, 2));
      *counts = counting.counts();
    }
  }
};

// As many units are expected as are waited for: the paper's listing would have lane 1 reserve and give up in turn.
TEST(BulkAlloc, AThreadThatWaitsForExpectedUnitsLeavesTheWordAlone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testing::Rig<BulkAlloc> rig(mebibyte, {}, seed);
    simt::Buffer<bulkalloc::Semaphore> units(1);
    units.from_host(rig.stream(), {{0}});
    simt::Buffer<std::uint32_t> time(1);
    time.from_host(rig.stream(), {0});
    simt::Buffer<simt::OperationCounts> counts(1);
    simt::launch(rig.stream(), {1, 32}, WaitForABatch{}, units.data(), time.data(), counts.data());
    const simt::OperationCounts waiter = counts.to_host(rig.stream())[0];
    // Reserves 1 compare-exchange, ends the reservation 1 subtraction, takes the unit 1 compare-exchange.
    EXPECT_EQ(waiter.updates, 1u) << "seed " << seed;
    EXPECT_EQ(waiter.compare_exchanges, 2u) << "seed " << seed;
    EXPECT_EQ(units.to_host(rig.stream())[0].word, 0u) << "seed " << seed;
  }
}

// The table of the paper's sizes, and where the blocks of a bin lie.
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
