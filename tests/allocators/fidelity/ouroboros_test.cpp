// These tests compare the operations of published Ouroboros on shared words with numbers worked out by hand from
// Winter et al. 2020 and the authors' code.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/ouroboros/ouroboros_c.hpp"
#include "allocators/ouroboros/ouroboros_p.hpp"
#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

constexpr std::size_t MiB = 1 << 20;

Ops operator+(Ops a, const Ops& b) { return a += b; }

// Semaphore: look 1 load, subtraction 1.
const Ops take_units{.loads = 1, .updates = 1};
// Number at the front: 1 addition.
const Ops number_takes{.updates = 1};
// Announcement: look 1 load, 1 compare-exchange.
const Ops announce{.loads = 1, .compare_exchanges = 1};
// A fresh chunk: look at the ring of reusable ones 1 load; counter 1 addition, start flag 1 OR.
const Ops fresh_chunk{.loads = 1, .updates = 2};
// Virtualised: indices 1 addition, committed chunks 1 addition.
const Ops commit{.updates = 2};
// Page size and number of pages: 2 stores.
const Ops page_header{.stores = 2};
// Start flag 1 load, page size 1 load.
const Ops find_class{.loads = 2};
const Ops signal{.updates = 1};
const Ops number_puts{.updates = 1};

// Slot of a flat ring: 1 exchange, 1 compare-exchange.
const Ops ring_take{.updates = 1};
const Ops ring_put{.compare_exchanges = 1};
// Of a segment besides: its chunk 1 load (array entry, or front or back pointer), its first number 1 load; entries of
// the segment 1 addition.
const Ops segment_take{.loads = 2, .updates = 2};
const Ops segment_put{.loads = 2, .updates = 1, .compare_exchanges = 1};
// The chunk of the next segment: 1 fresh chunk; header 4 stores; array entry 1 compare-exchange.
const Ops next_in_array = fresh_chunk + Ops{.stores = 4, .compare_exchanges = 1};
// Or the link in the segment 1 store; the back pointer is there already.
const Ops next_in_list = fresh_chunk + Ops{.stores = 5};

template <class A>
struct PageCosts;
template <>
struct PageCosts<OuroborosPS> {
  static inline const Ops take = ring_take, put = ring_put;
  static inline const Ops chunk = fresh_chunk;
  static inline const Ops first_fill = ring_put * 512;
};
template <>
struct PageCosts<OuroborosPVA> {
  static inline const Ops take = segment_take, put = segment_put;
  static inline const Ops chunk = commit + fresh_chunk;
  // The segment is found once; per page a compare-exchange of the slot and an addition to the entries.
  static inline const Ops first_fill = next_in_array + Ops{.loads = 2, .updates = 512, .compare_exchanges = 512};
};
template <>
struct PageCosts<OuroborosPVL> {
  static inline const Ops take = segment_take, put = segment_put;
  static inline const Ops chunk = commit + fresh_chunk;
  // Four pages at a time: a store of 16 bytes, in two halves, and an addition.
  static inline const Ops first_fill = next_in_list + Ops{.loads = 2, .stores = 256, .updates = 128};
};

template <class A>
class OuroborosPageFidelity : public ::testing::Test {};
using PageForms = ::testing::Types<OuroborosPS, OuroborosPVA, OuroborosPVL>;
TYPED_TEST_SUITE(OuroborosPageFidelity, PageForms);

TYPED_TEST(OuroborosPageFidelity, OneLane) {
  using Costs = PageCosts<TypeParam>;
  FidelityRig<TypeParam> rig(4 * MiB);
  // The first request makes the pages of a chunk.
  const Calls first = rig.counted_malloc({16});
  EXPECT_EQ(first.of_lane[0], announce + Costs::chunk + page_header + signal + number_puts + Costs::first_fill +
                                  take_units + number_takes + Costs::take);
  const Calls second = rig.counted_malloc({16});
  EXPECT_EQ(second.of_lane[0], take_units + number_takes + Costs::take);
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], find_class + signal + number_puts + Costs::put);
}

TYPED_TEST(OuroborosPageFidelity, AWarpTakesUnitsAndNumbersOnceAndSignalsLaneByLane) {
  using Costs = PageCosts<TypeParam>;
  FidelityRig<TypeParam> rig(4 * MiB);
  rig.counted_malloc({16});
  const Calls calls = rig.warp_mallocs(16);
  EXPECT_EQ(calls.of_lane[0], take_units + number_takes + Costs::take);
  for (std::size_t lane = 1; lane < 32; ++lane) EXPECT_EQ(calls.of_lane[lane], Costs::take) << lane;
  const Calls frees = rig.counted_free(calls.blocks);
  EXPECT_EQ(frees.of_lane[0], find_class + signal + number_puts + Costs::put);
  for (std::size_t lane = 1; lane < 32; ++lane) EXPECT_EQ(frees.of_lane[lane], find_class + signal + Costs::put);
}

TEST(OuroborosPSFidelity, AWarpOfWholeChunksMakesThemOneByOne) {
  FidelityRig<OuroborosPS> rig(4 * MiB);
  const Calls calls = rig.warp_mallocs(8192);
  // 32 times: announcement and a chunk of one page; at last the pages are there.
  const Ops one_chunk = announce + fresh_chunk + page_header + signal + number_puts + ring_put;
  EXPECT_EQ(calls.of_lane[0], one_chunk * 32 + take_units + number_takes + ring_take);
  for (std::size_t lane = 1; lane < 32; ++lane) EXPECT_EQ(calls.of_lane[lane], ring_take) << lane;
}

template <class A>
std::size_t fill(FidelityRig<A>& rig, std::uint64_t bytes) {
  std::size_t served = 0;
  for (;;) {
    const std::vector<void*> blocks = rig.counted_malloc({bytes}).blocks;
    if (blocks[0] == nullptr) return served;
    ++served;
  }
}

TYPED_TEST(OuroborosPageFidelity, AnExhaustedPoolCostsOneFailedAnnouncement) {
  FidelityRig<TypeParam> rig(4 * MiB);
  EXPECT_GT(fill(rig, 8192), 100u);
  const Calls calls = rig.counted_malloc({8192});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // No fresh chunk: look at the ring 1 load, counter 1 addition and 1 subtraction; or, with a queue in chunks, indices
  // and committed chunks up and down again. Then the announcement 1 subtraction, and a last look 1 load.
  const Ops refused =
      TypeParam::traits.name == OuroborosPS::traits.name ? Ops{.loads = 1, .updates = 2} : Ops{.updates = 4};
  EXPECT_EQ(calls.of_lane[0], announce + refused + (Ops{.loads = 1, .updates = 1}));
}

// Small segments: 16 slots, and pages of 16 bytes come four at a time.
OuroborosPVL::Parameters small_segments() {
  OuroborosPVL::Parameters parameters;
  parameters.chunk_bytes = 64;
  parameters.reuse_capacity = 64;
  parameters.held_back = 1;
  parameters.device_heap_share = 0;
  return parameters;
}
// The link of the segment 1 load, the front 1 compare-exchange.
const Ops move_front{.loads = 1, .compare_exchanges = 1};
// The entries of the next segment: 1 load, which says that it is complete. Or else 1 addition of nothing as well.
const Ops find_complete{.loads = 1};
const Ops find_open{.loads = 1, .updates = 1};
// Segments held back: 1 load; while they are few, 1 addition.
const Ops hold_back_full{.loads = 1};
const Ops hold_back_few{.loads = 1, .updates = 1};
// The oldest segment 1 load, its link 1 load, 1 compare-exchange; ring of reusable chunks: count and number 2
// additions, slot 1 compare-exchange.
const Ops give_oldest{.loads = 2, .updates = 2, .compare_exchanges = 2};

TEST(OuroborosPVLFidelity, TheLastTakeOfASegmentMovesTheFrontAndGivesBackTheOldest) {
  FidelityRig<OuroborosPVL> rig(16 * 1024, small_segments());
  for (int number = 0; number < 40; ++number) {
    const Calls calls = rig.counted_malloc({16});
    const Ops take = take_units + number_takes + segment_take;
    if (number == 15) {
      EXPECT_EQ(calls.of_lane[0], take + move_front + find_open + hold_back_few);
    } else if (number == 31) {
      EXPECT_EQ(calls.of_lane[0], take + move_front + find_open + hold_back_full + give_oldest);
    } else if (number != 0) {
      EXPECT_EQ(calls.of_lane[0], take) << number;
    }
    rig.counted_free(calls.blocks);
  }
}

struct TakeNumbers {
  template <class Thread, class HeapType>
  SIMT_FN void operator()(Thread& thread, HeapType heap, const std::uint32_t* numbers, std::uint32_t many,
                          simt::OperationCounts* last) const {
    for (std::uint32_t i = 0; i < many; ++i) {
      simt::CountingThread<Thread> counting(thread);
      heap.queue.take(counting, ouroboros::published::Alone{}, heap.chunks, heap.classes[0].ends, 0, numbers[i]);
      *last = counting.counts();
    }
  }
};

TEST(OuroborosPVLFidelity, TheFrontPassesAllCompletedSegmentsBeforeAnyIsGivenBack) {
  FidelityRig<OuroborosPVL> rig(16 * 1024, small_segments());
  const Calls calls = rig.counted_malloc(std::vector<std::uint64_t>(96, 16));
  rig.counted_free(calls.blocks);
  const std::uint32_t front = rig.allocator.heap().classes[0].front;
  ASSERT_EQ(front, 96u);
  // Two segments are completed before the one in front of them.
  std::vector<std::uint32_t> order;
  for (const std::uint32_t segment : {1, 2, 0}) {
    for (std::uint32_t i = 0; i < 16; ++i) order.push_back(front + segment * 16 + i);
  }
  simt::Buffer<std::uint32_t> numbers(order.size());
  numbers.from_host(rig.stream(), order);
  simt::Buffer<simt::OperationCounts> last(1);
  simt::launch(rig.stream(), {1, 1}, TakeNumbers{}, rig.allocator.heap(),
               static_cast<const std::uint32_t*>(numbers.data()), static_cast<std::uint32_t>(order.size()),
               last.data());
  const simt::OperationCounts counts = last.to_host(rig.stream())[0];
  // One look at the segments held back for all three.
  const Ops expected = segment_take + move_front * 3 + find_complete * 2 + find_open + hold_back_full + give_oldest * 3;
  EXPECT_EQ((Ops{counts.loads, counts.stores, counts.updates, counts.compare_exchanges, counts.lost_exchanges}),
            expected);
}

// Place: slot 1 load; of a segment besides, its chunk 1 load and its first number 1 load.
template <class A>
const Ops look = A::traits.name == OuroborosCS::traits.name ? Ops{.loads = 1} : Ops{.loads = 3};
// Count 1 subtraction; mask word 1 load, bit 1 AND.
const Ops pick_page{.loads = 1, .updates = 2};
// The front of the queue: 1 load.
const Ops read_front{.loads = 1};
// Front 1 maximum; entry 1 compare-exchange; chunks of the queue 1 subtraction; of a segment, its entries 1 addition.
template <class A>
const Ops last_page = Ops{.updates = 2, .compare_exchanges = 1} +
                      (A::traits.name == OuroborosCS::traits.name ? Ops{} : Ops{.updates = 1});
// Number 1 addition, slot; place in the header 1 store; chunks of the queue 1 addition.
template <class A>
const Ops enqueue = Ops{.stores = 1, .updates = 2} +
                    (A::traits.name == OuroborosCS::traits.name ? ring_put : segment_put);
// Bit 1 OR, count 1 addition.
const Ops return_page{.updates = 2};

template <class A>
class OuroborosChunkFidelity : public ::testing::Test {};
using ChunkForms = ::testing::Types<OuroborosCS, OuroborosCVA, OuroborosCVL>;
TYPED_TEST_SUITE(OuroborosChunkFidelity, ChunkForms);

TYPED_TEST(OuroborosChunkFidelity, OneLane) {
  FidelityRig<TypeParam> rig(4 * MiB);
  static_cast<void>(rig.counted_malloc({16}));
  const Calls calls = rig.counted_malloc({16});
  EXPECT_EQ(calls.of_lane[0], take_units + read_front + look<TypeParam> + pick_page);
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], find_class + return_page + signal);
}

TYPED_TEST(OuroborosChunkFidelity, AWarpTakesUnitsOnceAndPagesLaneByLane) {
  FidelityRig<TypeParam> rig(4 * MiB);
  static_cast<void>(rig.counted_malloc({16}));
  const Calls calls = rig.warp_mallocs(16);
  EXPECT_EQ(calls.of_lane[0], take_units + read_front + look<TypeParam> + pick_page);
  for (std::size_t lane = 1; lane < 32; ++lane) {
    EXPECT_EQ(calls.of_lane[lane], read_front + look<TypeParam> + pick_page) << lane;
  }
  const Calls frees = rig.counted_free(calls.blocks);
  for (const Ops& each : frees.of_lane) EXPECT_EQ(each, find_class + return_page + signal);
}

TYPED_TEST(OuroborosChunkFidelity, TheLastPageLeavesTheQueueAndTheFirstFreeBringsTheChunkBack) {
  FidelityRig<TypeParam> rig(4 * MiB);
  static_cast<void>(rig.counted_malloc({4096}));
  // Two pages per chunk.
  const Calls last = rig.counted_malloc({4096});
  EXPECT_EQ(last.of_lane[0], take_units + read_front + look<TypeParam> + pick_page + last_page<TypeParam>);
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0], find_class + return_page + enqueue<TypeParam> + signal);
}

TEST(OuroborosCSFidelity, ALaneWithoutLuckAddsBackAndGoesOn) {
  FidelityRig<OuroborosCS> rig(4 * MiB);
  static_cast<void>(rig.counted_malloc({8192}));
  // A full warp of whole chunks from a fresh class: lane 0 makes 31 chunks more; then lane k finds k chunks without a
  // page, which it meets as empty places or as counts.
  const Calls calls = rig.warp_mallocs(8192);
  const Ops sum = calls.sum();
  // 32 chunks are taken and removed, whoever takes them.
  EXPECT_EQ(std::count(calls.blocks.begin(), calls.blocks.end(), nullptr), 0);
  EXPECT_GE(sum.compare_exchanges, 32u /* announcements */ + 32u /* enqueued */ + 32u /* removed */);
  EXPECT_EQ(sum.stores, 32u * (2 /* page header */ + 1 /* mask */ + 2 /* place */ + 1 /* count */));
}

TYPED_TEST(OuroborosChunkFidelity, AnExhaustedPoolCostsOneFailedAnnouncement) {
  FidelityRig<TypeParam> rig(4 * MiB);
  EXPECT_GT(fill(rig, 8192), 100u);
  const Calls calls = rig.counted_malloc({8192});
  EXPECT_EQ(calls.blocks[0], nullptr);
  const Ops refused =
      TypeParam::traits.name == OuroborosCS::traits.name ? Ops{.loads = 1, .updates = 2} : Ops{.updates = 4};
  EXPECT_EQ(calls.of_lane[0], announce + refused + (Ops{.loads = 1, .updates = 1}));
}

}  // namespace
}  // namespace allocbench
