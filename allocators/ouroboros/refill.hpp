// What a malloc does when its class has no free pages for all lanes: the slow path of all variants.
//
// Lanes of one class go round together: take what the semaphore has; or take as many chunks as they need, keep
// the pages they need and put the rest into the queue; or wait for pages that others make. Of a burst, the
// semaphore's demand decides who makes and who waits. Null after two rounds that found neither a page nor a
// chunk.
//   Lanes of several classes are in here at once, and the hardware may run what comes after a wait only when all of
// them have arrived. So nobody waits before every chunk that a lane of its warp has taken is stocked: else two
// warps could wait for each other's pages until their patience ends.
//
// Differs from the paper: the lanes get pages of the new chunks directly and all chunks in one step (there all pages
// pass through the queue, and one chunk per round serves one lane of a full warp in the largest class); a group may be
// served in part; the failure to get a chunk ends the announcement and wakes those who wait (there it was ignored).
#pragma once

#include "allocators/ouroboros/heap.hpp"

namespace allocbench::ouroboros {

enum class Supply : std::uint32_t { units, chunks, wait, unclear, none };

struct SupplyOrder {
  Supply kind;
  std::uint32_t count;     // units or chunks
  std::uint32_t first;     // number of the first take, or first chunk
  std::uint64_t promised;  // what the semaphore was told
};

inline constexpr std::uint32_t most_failures = 16;  // unclear rounds; two clear ones
// Pages that others announced may go to third parties. Who waits only once takes chunks that the burst does not need.
inline constexpr std::uint32_t most_waits = 8;

// One round of the leader for `lanes` lanes. Waits for nobody: another leader of the warp may have chunks to stock.
template <class Policy, class Thread>
SIMT_FN SupplyOrder order_pages(Thread& thread, const Policy& heap, std::uint32_t id, std::uint32_t lanes,
                                bool insists) {
  const BulkSemaphore pages = heap.free_pages(id);
  const std::uint32_t units = pages.take_if_any(thread, lanes);
  if (units != 0) return {Supply::units, units, heap.number_takes_of(thread, id, units), 0};
  const std::uint32_t log = heap.space.pages_log(id);
  const std::uint32_t wanted = (lanes + (1u << log) - 1) >> log;
  const std::uint32_t surplus = (wanted << log) - lanes;
  const std::uint64_t demand = BulkSemaphore::promise(surplus == 0 ? 0 : lanes, 0);
  const std::uint64_t announced = BulkSemaphore::promise(0, surplus);
  if (surplus != 0) {
    if (!pages.demand(thread, lanes, wanted << log) && !insists) return {Supply::wait, 0, 0, demand};
    pages.announce(thread, surplus);
  }
  std::uint32_t first = 0;
  const std::uint32_t chunks = heap.take_chunks_for(thread, id, wanted, first);
  if (chunks != 0) return {Supply::chunks, chunks, first, demand + announced};
  pages.settle(thread, announced, 0);
  if (!insists && pages.expects_units(thread)) return {Supply::wait, 0, 0, demand};
  pages.settle(thread, demand, 0);
  // Below zero, takers are about to give back what they could not have, and may hide what somebody freed.
  return {pages.available(thread) < 0 ? Supply::unclear : Supply::none, 0, 0, 0};
}

// Not inlined: the fast path keeps its registers. `heap` lies in device memory.
template <class Policy, class Thread>
SIMT_NOINLINE_FN void* refill(Thread& thread, const Policy& heap, std::uint32_t id) {
  std::uint32_t waits = 0;
  for (std::uint32_t failures = 0; failures < most_failures;) {
    thread.probe(simt::Step::retry);
    const auto all = thread.converged();
    const auto group = all.match_any(id);
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t rank = group.thread_rank();
    SupplyOrder order{};
    if (group.leader()) order = order_pages(thread, heap, id, lanes, waits >= most_waits);
    order.kind = static_cast<Supply>(group.broadcast(static_cast<std::uint32_t>(order.kind)));
    order.count = group.broadcast(order.count);
    order.first = group.broadcast(order.first);
    const std::uint32_t log = heap.space.pages_log(id);
    const std::uint32_t pages = order.kind == Supply::chunks ? order.count << log : 0;
    const std::uint32_t used = pages < lanes ? pages : lanes;
    // The queue of a class may need hundreds of pages: lanes of all classes put them there, one class after another.
    for (std::uint32_t makers = all.ballot(group.leader() && pages != 0); makers != 0; makers &= makers - 1) {
      const std::uint32_t maker = simt::count_trailing_zeros(makers);
      heap.stock(thread, all, all.shfl_lane(id, maker), all.shfl_lane(order.first, maker),
                 all.shfl_lane(order.count, maker), all.shfl_lane(used, maker), all.shfl_lane(pages - used, maker),
                 all.shfl_lane(order.promised, maker));
    }
    if (order.kind == Supply::wait) {
      if (group.leader()) {
        order.count = heap.free_pages(id).await(thread, lanes);
        heap.free_pages(id).settle(thread, order.promised, 0);
        if (order.count != 0) order.first = heap.number_takes_of(thread, id, order.count);
      }
      order.count = group.broadcast(order.count);
      order.first = group.broadcast(order.first);
      if (order.count != 0) order.kind = Supply::units;
      ++waits;
    }
    if (order.kind == Supply::units) {
      const auto alike = group.partition(rank < order.count);
      if (rank < order.count) return heap.serve(thread, alike, id, order.first);
    } else if (order.kind == Supply::chunks) {
      if (rank < used) return heap.space.page(order.first + (rank >> log), rank & ((1u << log) - 1), id);
    } else if (order.kind != Supply::wait) {
      failures += order.kind == Supply::none ? most_failures / 2 : 1;
      thread.spin_hint();
    }
  }
  return nullptr;
}

}  // namespace allocbench::ouroboros
