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

// A take loads the semaphore and subtracts from it.
const Ops take_units{.loads = 1, .updates = 1};
// An addition gives the number at the front of the queue.
const Ops number_takes{.updates = 1};
// An announcement loads the semaphore and changes it by a compare-exchange.
const Ops announce{.loads = 1, .compare_exchanges = 1};
// For a fresh chunk, the lane loads the count of reusable chunks, adds to the counter of fresh ones, and sets the start
// flag (1 OR).
const Ops fresh_chunk{.loads = 1, .updates = 2};
// A virtualised queue also adds to the indices and to the committed chunks.
const Ops commit{.updates = 2};
// The lane stores the page size and the number of pages.
const Ops page_header{.stores = 2};
// A free loads the start flag and the page size.
const Ops find_class{.loads = 2};
const Ops signal{.updates = 1};
const Ops number_puts{.updates = 1};

// A take exchanges a slot of a flat ring, and a put fills a slot by a compare-exchange.
const Ops ring_take{.updates = 1};
const Ops ring_put{.compare_exchanges = 1};
// In a segment, both also load its chunk (from the array, or from the front or back pointer) and its first number, and
// add to its entries.
const Ops segment_take{.loads = 2, .updates = 2};
const Ops segment_put{.loads = 2, .updates = 1, .compare_exchanges = 1};
// The next segment takes a fresh chunk, 4 stores to its header, and a compare-exchange of the array entry.
const Ops next_in_array = fresh_chunk + Ops{.stores = 4, .compare_exchanges = 1};
// In a list, a store of the link replaces the compare-exchange. The back pointer is there already.
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
  // The lane finds the segment once. Each page takes a compare-exchange of the slot and an addition to the entries.
  static inline const Ops first_fill = next_in_array + Ops{.loads = 2, .updates = 512, .compare_exchanges = 512};
};
template <>
struct PageCosts<OuroborosPVL> {
  static inline const Ops take = segment_take, put = segment_put;
  static inline const Ops chunk = commit + fresh_chunk;
  // For each four pages, the lane makes one store of 16 bytes, which counts as two stores, and one addition.
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
  // Lane 0 announces and makes a chunk of one page 32 times. Then it takes the pages.
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
  // There is no fresh chunk. With a flat ring, the lane makes 1 load, and adds to the counter and subtracts again. With
  // a queue in chunks, it raises and lowers the indices and the committed chunks. Then it takes the announcement back
  // (1 subtraction) and looks once more (1 load).
  const Ops refused =
      TypeParam::traits.name == OuroborosPS::traits.name ? Ops{.loads = 1, .updates = 2} : Ops{.updates = 4};
  EXPECT_EQ(calls.of_lane[0], announce + refused + (Ops{.loads = 1, .updates = 1}));
}

// Small segments have 16 slots, and pages of 16 bytes come four at a time.
OuroborosPVL::Parameters small_segments() {
  OuroborosPVL::Parameters parameters;
  parameters.chunk_bytes = 64;
  parameters.reuse_capacity = 64;
  parameters.held_back = 1;
  parameters.device_heap_share = 0;
  return parameters;
}
// The lane loads the link of the segment and moves the front by a compare-exchange.
const Ops move_front{.loads = 1, .compare_exchanges = 1};
// The lane loads the entries of the next segment. If the segment is not complete, the lane also adds 0 to them.
const Ops find_complete{.loads = 1};
const Ops find_open{.loads = 1, .updates = 1};
// The lane loads the number of segments that are held back. While they are few, it adds to this number.
const Ops hold_back_full{.loads = 1};
const Ops hold_back_few{.loads = 1, .updates = 1};
// The lane loads the oldest segment and its link, and removes the segment by a compare-exchange. In the ring of
// reusable chunks, it adds to the count and to the number, and fills the slot by a compare-exchange.
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
  // The lane looks once at the number of segments held back, for all three segments.
  const Ops expected = segment_take + move_front * 3 + find_complete * 2 + find_open + hold_back_full + give_oldest * 3;
  EXPECT_EQ((Ops{counts.loads, counts.stores, counts.updates, counts.compare_exchanges, counts.lost_exchanges}),
            expected);
}

// A look at a place loads the slot. In a segment, it also loads the segment's chunk and first number.
template <class A>
const Ops look = A::traits.name == OuroborosCS::traits.name ? Ops{.loads = 1} : Ops{.loads = 3};
// The lane subtracts from the count, loads a word of the mask, and clears a bit (1 AND).
const Ops pick_page{.loads = 1, .updates = 2};
// The lane loads the front of the queue.
const Ops read_front{.loads = 1};
// The lane raises the front (1 maximum), empties the entry by a compare-exchange, and subtracts from the chunks of the
// queue. In a segment, it also adds to the entries.
template <class A>
const Ops last_page = Ops{.updates = 2, .compare_exchanges = 1} +
                      (A::traits.name == OuroborosCS::traits.name ? Ops{} : Ops{.updates = 1});
// The lane takes a number (1 addition), fills the slot, stores the place in the header, and adds to the chunks of the
// queue.
template <class A>
const Ops enqueue = Ops{.stores = 1, .updates = 2} +
                    (A::traits.name == OuroborosCS::traits.name ? ring_put : segment_put);
// A free sets the bit (1 OR) and adds to the count.
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
  // A chunk has two pages.
  const Calls last = rig.counted_malloc({4096});
  EXPECT_EQ(last.of_lane[0], take_units + read_front + look<TypeParam> + pick_page + last_page<TypeParam>);
  EXPECT_EQ(rig.counted_free(last.blocks).of_lane[0], find_class + return_page + enqueue<TypeParam> + signal);
}

TEST(OuroborosCSFidelity, ALaneWithoutLuckAddsBackAndGoesOn) {
  FidelityRig<OuroborosCS> rig(4 * MiB);
  static_cast<void>(rig.counted_malloc({8192}));
  // Each lane of a warp requests a whole chunk. Lane 0 makes 32 chunks. Then lane k passes k chunks without a page: it
  // finds an empty place, or a count of zero.
  const Calls calls = rig.warp_mallocs(8192);
  const Ops sum = calls.sum();
  // The lanes together take and remove 32 chunks.
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
