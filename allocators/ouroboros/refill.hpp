// refill() is the slow path of a reworked malloc. It serves the lanes that get no unit of their class's semaphore.
//
// Lanes of one class loop together. In a round they take the available pages of the semaphore, or wait for pages of
// other groups, or take up to as many chunks as they need. In the last case they keep the pages that they need and put
// the rest into the queue. The semaphore's demand decides which groups of a burst make pages and which wait.
//
// Null: A taker that finds too few pages lowers the semaphore for a moment (units.hpp) and may hide pages that are
// freed meanwhile. So a round counts as failed only if a check of the semaphore after the group's own last addition
// finds no page. A taker that hides a page checks again later, and the last such taker sees the true number. A group
// that then sees pages tries again, up to `most_losses` times. The search ends after two failed rounds. A round in
// which the semaphore is below zero or expects pages counts as an eighth of a failed round.
//
// Waits: Lanes of a warp that request several classes may be in refill() at the same time, and the hardware may run the
// code behind a wait only when all of them have arrived. Therefore the warp first stocks every chunk that it has taken:
// it puts the chunk's free pages into the queue. Only then may its lanes wait. In another order, two warps could wait
// for each other's pages until they give up.
//
// Differs from the paper:
// * The lanes get pages directly from new chunks, and one step can take several fresh chunks. In the paper all pages
//   pass through the queue, and in the largest class one chunk per round serves one lane of a full warp.
// * refill() may serve only some lanes of a group.
// * A group that gets no chunk ends its announcement, so that waiting groups go on. The paper ignores the failure.
#pragma once

#include "allocators/ouroboros/heap.hpp"

namespace allocbench::ouroboros {

enum class Supply : std::uint32_t {
  units,
  chunks,
  wait,
  lost,     // there are pages, but other groups were quicker
  unclear,  // running takes or releases may hide pages
  none
};

struct SupplyOrder {
  Supply kind;
  std::uint32_t count;     // number of units or chunks
  std::uint32_t first;     // queue position of the first take, or the first chunk
  std::uint64_t promised;  // number of pages that the group has announced to the semaphore
};

inline constexpr std::uint32_t most_failures = 16;  // most unclear rounds; two rounds of `none` end the search
// This bounds the search of a group that sees pages but always loses them to quicker groups.
inline constexpr std::uint32_t most_losses = 1000;
// A group waits several times, because other groups may take the announced pages first. Giving up after one wait would
// make callers take chunks that the burst does not need.
inline constexpr std::uint32_t most_waits = 8;

// Returns the state of the free pages after a round that got nothing. The check follows all additions of the caller.
template <class Thread>
SIMT_FN Supply verdict(Thread& thread, const BulkSemaphore& pages) {
  const std::int64_t available = pages.available(thread);
  if (available > 0) return Supply::lost;
  return available < 0 || pages.expects_units(thread) ? Supply::unclear : Supply::none;
}

// Takes free pages for a group of `lanes` lanes, or if there are none, chunks that the group divides into pages. The
// group's leader calls this function once per round of refill(). It does not wait for pages of other groups, because
// another leader of the warp may have chunks to stock. With `insists`, it tries to take chunks even if other groups are
// making enough pages.
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
  return {verdict(thread, pages), 0, 0, 0};
}

// Puts the remaining pages of new chunks into the queues. The lanes of all classes do this together, one class after
// another, because hundreds of pages may go into the queue of one class. `pages` is the number of pages of the caller's
// new chunks, and `used` is the number that its group keeps.
template <class Policy, class Thread, class Group>
SIMT_FN void stock_chunks(Thread& thread, const Policy& heap, const Group& all, bool leads, std::uint32_t id,
                          const SupplyOrder& order, std::uint32_t pages, std::uint32_t used) {
  for (std::uint32_t makers = all.ballot(leads && pages != 0); makers != 0; makers &= makers - 1) {
    const std::uint32_t maker = simt::count_trailing_zeros(makers);
    heap.stock(thread, all, all.shfl_lane(id, maker), all.shfl_lane(order.first, maker),
               all.shfl_lane(order.count, maker), all.shfl_lane(used, maker), all.shfl_lane(pages - used, maker),
               all.shfl_lane(order.promised, maker));
  }
}

// Waits for pages of other groups. Afterwards `order` contains the group's units, if the group got any.
template <class Policy, class Thread, class Group>
SIMT_FN void await_pages(Thread& thread, const Policy& heap, const Group& group, std::uint32_t id, SupplyOrder& order) {
  if (group.leader()) {
    order.count = heap.free_pages(id).await(thread, group.num_threads());
    heap.free_pages(id).settle(thread, order.promised, 0);
    if (order.count != 0) order.first = heap.number_takes_of(thread, id, order.count);
  }
  order.count = group.broadcast(order.count);
  order.first = group.broadcast(order.first);
  if (order.count != 0) order.kind = Supply::units;
}

// Serves a lane on the slow path. Returns null if the search ends without a page. The function is not inlined, so that
// the fast path keeps its registers. `heap` lies in device memory.
template <class Policy, class Thread>
SIMT_NOINLINE_FN void* refill(Thread& thread, const Policy& heap, std::uint32_t id) {
  std::uint32_t waits = 0;
  std::uint32_t losses = 0;
  for (std::uint32_t failures = 0; failures < most_failures && losses < most_losses;) {
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
    stock_chunks(thread, heap, all, group.leader(), id, order, pages, used);
    if (order.kind == Supply::wait) {
      await_pages(thread, heap, group, id, order);
      ++waits;
    }
    if (order.kind == Supply::units) {
      const auto alike = group.partition(rank < order.count);
      if (rank < order.count) return heap.serve(thread, alike, id, order.first);
    } else if (order.kind == Supply::chunks) {
      if (rank < used) return heap.space.page(order.first + (rank >> log), rank & ((1u << log) - 1), id);
    } else if (order.kind == Supply::lost) {
      ++losses;
    } else if (order.kind != Supply::wait) {
      failures += order.kind == Supply::none ? most_failures / 2 : 1;
      thread.spin_hint();
    }
  }
  return nullptr;
}

// Takes a new chunk for a class with many waiting groups. The group keeps the first `kept` pages, and the others go
// into the queue. Returns no_chunk if there is no chunk. The pages are announced as in order_pages(), so that no group
// gives up meanwhile. The group must not hold the queue position of a take, because the put of the chunk may need a
// slot that is empty only after that take. Like refill(), this function is not inlined.
template <class Policy, class Thread, class Group>
SIMT_NOINLINE_FN std::uint32_t chunk_for_crowd(Thread& thread, const Policy& heap, const Group& group, std::uint32_t id,
                                               std::uint32_t kept) {
  const BulkSemaphore units = heap.free_pages(id);
  const std::uint32_t extra = (1u << heap.space.pages_log(id)) - kept;
  const std::uint64_t announced = BulkSemaphore::promise(0, extra);
  std::uint32_t chunk = no_chunk;
  if (group.leader()) {
    units.announce(thread, extra);
    if (heap.take_chunks_for(thread, id, 1, chunk) == 0) {
      units.settle(thread, announced, 0);
      chunk = no_chunk;
    }
  }
  chunk = group.broadcast(chunk);
  if (chunk != no_chunk) heap.stock(thread, group, id, chunk, 1, kept, extra, announced);
  return chunk;
}

}  // namespace allocbench::ouroboros
