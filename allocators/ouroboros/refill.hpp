// What a malloc does when its class has no free pages for all lanes: the slow path of all variants.
//
// Lanes of one class go round together: take what the semaphore has; or wait for pages that others announced, a few
// times; or take as many chunks as the lanes need, keep the pages they need and put the rest into the queue. Null
// after two rounds that found neither a page nor a chunk.
//
// Differs from the paper: the lanes get pages of the new chunks directly and all chunks in one step (there all pages
// pass through the queue, and one chunk per round serves one lane of a full warp in the largest class); a group may be
// served in part; the failure to get a chunk ends the announcement and wakes those who wait (there it was ignored).
#pragma once

#include "allocators/ouroboros/heap.hpp"

namespace allocbench::ouroboros {

enum class Supply : std::uint32_t { units, chunks, waited, unclear, none };

struct SupplyOrder {
  Supply kind;
  std::uint32_t count;      // units or chunks
  std::uint32_t first;      // number of the first take, or first chunk
  std::uint32_t announced;  // pages that others were told to expect
};

inline constexpr std::uint32_t most_failures = 16;  // unclear rounds; two clear ones
// Pages that others announced may go to third parties. Who waits only once takes chunks that the burst does not need.
inline constexpr std::uint32_t most_waits = 8;

// One round of the leader for `lanes` lanes.
template <class Policy, class Thread>
SIMT_FN SupplyOrder order_pages(Thread& thread, const Policy& heap, std::uint32_t id, std::uint32_t lanes,
                                bool insists) {
  const BulkSemaphore pages = heap.free_pages(id);
  const std::uint32_t units = pages.take_if_any(thread, lanes);
  if (units != 0) return {Supply::units, units, heap.number_takes_of(thread, id, units), 0};
  const std::uint32_t log = heap.space.pages_log(id);
  const std::uint32_t wanted = (lanes + (1u << log) - 1) >> log;
  const std::uint32_t surplus = (wanted << log) - lanes;
  if (surplus != 0 && !pages.announce(thread, lanes, surplus, insists)) {
    pages.await(thread, lanes);
    return {Supply::waited, 0, 0, 0};
  }
  std::uint32_t first = 0;
  const std::uint32_t chunks = heap.take_chunks_for(thread, id, wanted, first);
  if (chunks != 0) return {Supply::chunks, chunks, first, surplus};
  pages.settle(thread, surplus, 0);
  if (!insists && pages.expects_units(thread)) {
    pages.await(thread, lanes);
    return {Supply::waited, 0, 0, 0};
  }
  // Below zero, takers are about to give back what they could not have, and may hide what somebody freed.
  return {pages.available(thread) < 0 ? Supply::unclear : Supply::none, 0, 0, 0};
}

// Not inlined: the fast path keeps its registers. `heap` lies in device memory.
template <class Policy, class Thread>
SIMT_NOINLINE_FN void* refill(Thread& thread, const Policy& heap, std::uint32_t id) {
  std::uint32_t waits = 0;
  for (std::uint32_t failures = 0; failures < most_failures;) {
    thread.probe(simt::Step::retry);
    const auto group = thread.converged().match_any(id);
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t rank = group.thread_rank();
    SupplyOrder order{};
    if (group.leader()) order = order_pages(thread, heap, id, lanes, waits >= most_waits);
    order.kind = static_cast<Supply>(group.broadcast(static_cast<std::uint32_t>(order.kind)));
    order.count = group.broadcast(order.count);
    order.first = group.broadcast(order.first);
    order.announced = group.broadcast(order.announced);
    if (order.kind == Supply::units) {
      const auto alike = group.partition(rank < order.count);
      if (rank < order.count) return heap.serve(thread, alike, id, order.first);
    } else if (order.kind == Supply::chunks) {
      const std::uint32_t log = heap.space.pages_log(id);
      const std::uint32_t pages = order.count << log;
      const std::uint32_t used = pages < lanes ? pages : lanes;
      heap.stock(thread, group, id, order.first, order.count, used, pages - used, order.announced);
      if (rank < used) return heap.space.page(order.first + (rank >> log), rank & ((1u << log) - 1), id);
    } else if (order.kind == Supply::waited) {
      ++waits;
    } else {
      failures += order.kind == Supply::none ? most_failures / 2 : 1;
      thread.spin_hint();
    }
  }
  return nullptr;
}

}  // namespace allocbench::ouroboros
