// SimpleQueue keeps free pages in one ring buffer, which serves requests one after the other.
//
// Paper: Pham et al. 2025, section 5.1, names "a simple queue" as the stand-in for queue-based allocators (Ouroboros)
// and does not describe it. This form works like the index queues of Ouroboros (Winter et al., ICS 2020): a count of
// free pages, a ring and two counters of tickets.
//
// Idea: A malloc lowers the count to claim a page, draws a ticket at the head and takes the page from the ticket's
// slot. A free raises the count, draws a ticket at the tail and puts the page into the ticket's slot. All requests use
// the same counters, so the time of N requests grows with N at any share of free pages. In a fresh queue, ticket t gets
// page t.
//
// Data: count, head and tail, each in a cache line of its own, and the ring. The number of slots in the ring is the
// smallest power of two that is not less than the number of pages. Tickets have 32 bits and wrap; the size of the ring
// divides 2^32.
//
// Protocol: index_slot.hpp describes the slots, and units.hpp the count. A thread waits only for the owner of an
// earlier ticket, or for a thread that has already raised the count. So the awaited thread has started, and it waits
// only for earlier tickets. Until a failing request has undone its subtraction, other requests may be refused although
// a page is free.
//
// In simple_queue each lane makes these steps for itself. In simple_queue_reworked one addition per counter serves all
// lanes of a warp that call together, as in Ouroboros. simple_queue_reworked raises the count after the pages are in
// their slots, so requests never claim more pages than are in slots. A request may still wait for a free with an
// earlier ticket. Neither form loads the count before it claims pages, because this load would be a third access to
// counters that all lanes share.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "allocators/support/common/index_slot.hpp"
#include "allocators/support/common/page_array.hpp"
#include "allocators/support/common/tickets.hpp"
#include "allocators/support/common/units.hpp"

namespace allocbench {
namespace simple_queue {

enum class Tickets { per_lane, per_warp };

// QueueState takes three cache lines, because many threads change each of its three words.
struct alignas(128) QueueState {
  std::uint32_t count;  // signed number of pages in slots; too low while failing requests undo their subtractions
  std::uint32_t padding_[31];
  std::uint32_t head;
  std::uint32_t padding2_[31];
  std::uint32_t tail;
};

// Makes every page free, in order.
struct FillQueue {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, QueueState* state, std::uint32_t* ring, std::uint32_t slots,
                          std::uint32_t pages) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < slots; i += thread.grid_size()) {
      thread.atomic(ring[i]).store(i < pages ? i : empty_slot, simt::relaxed);
    }
    if (thread.rank_in_grid() != 0) return;
    thread.atomic(state->count).store(pages, simt::relaxed);
    thread.atomic(state->head).store(0u, simt::relaxed);
    thread.atomic(state->tail).store(pages, simt::relaxed);
  }
};

struct QueueParameters {
  std::uint64_t page_bytes = 256;

  static auto fields() {
    return std::tuple{
        Field{"page_bytes", &QueueParameters::page_bytes, "B", "bytes of a page", "Pham et al. 2025, sec. 5.2"}
            .between(16, 1 << 26)
            .powers_of_two()};
  }
};

template <Tickets tickets>
class PageQueue {
 public:
  using Parameters = QueueParameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.page_bytes; }
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 40 * 16, .parameters = {.page_bytes = 16}, .serves_new = 40};
  }
  // This heap has as many pages as the ring has slots, so that a put may have to wait.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 8 * 16, .parameters = {.page_bytes = 16}, .serves_new = 8};
  }

  void reset(simt::Stream& stream) {
    constexpr std::uint32_t threads = 128;
    const std::uint32_t blocks = std::min(slot_mask_ / threads + 1, 4096u);
    simt::launch(stream, {blocks, threads}, FillQueue{}, state_, ring_, slot_mask_ + 1, pages_.count);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (pages_.limit.refuses(bytes)) return nullptr;
    if constexpr (tickets == Tickets::per_lane) {
      if (take_units(thread, state_->count, 1) == 0) return nullptr;
      const std::uint32_t ticket = thread.atomic(state_->head).fetch_add(1u, simt::relaxed);
      thread.note(simt::Note::ticket, ticket);
      return pages_.address(take_from(thread, slot(ticket)));
    } else {
      const auto group = thread.converged();
      TicketRange range;
      if (group.leader()) {
        range.count = take_units(thread, state_->count, group.num_threads());
        if (range.count != 0) range.first = thread.atomic(state_->head).fetch_add(range.count, simt::relaxed);
      }
      range.count = group.broadcast(range.count);
      range.first = group.broadcast(range.first);
      if (!range.has_one(group)) return nullptr;
      thread.note(simt::Note::ticket, range.first);
      return pages_.address(take_from(thread, slot(range.own(group))));
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t page = pages_.page_of(block);
    if constexpr (tickets == Tickets::per_lane) {
      thread.atomic(state_->count).fetch_add(1u, simt::relaxed);
      put_into(thread, slot(thread.atomic(state_->tail).fetch_add(1u, simt::relaxed)), page);
    } else {
      const auto group = thread.converged();
      std::uint32_t ticket = 0;
      if (group.leader()) ticket = thread.atomic(state_->tail).fetch_add(group.num_threads(), simt::relaxed);
      put_into(thread, slot(group.broadcast(ticket) + group.thread_rank()), page);
      group.sync();  // all pages are in their slots
      if (group.leader()) thread.atomic(state_->count).fetch_add(group.num_threads(), simt::relaxed);
    }
  }

  std::string broken_invariant(simt::Stream& stream) const {
    QueueState state;
    simt::copy_to_host(stream, &state, state_, sizeof state);
    std::vector<std::uint32_t> ring(slot_mask_ + 1);
    simt::copy_to_host(stream, ring.data(), ring_, ring.size() * sizeof ring[0]);
    std::vector<bool> queued(pages_.count);
    std::uint32_t count = 0;
    for (const std::uint32_t page : ring) {
      if (page == empty_slot) continue;
      if (page >= pages_.count || queued[page])
        return "page " + std::to_string(page) + " is queued twice or does not exist";
      queued[page] = true;
      ++count;
    }
    if (count != state.count) {
      return "counts " + std::to_string(state.count) + " pages, but " + std::to_string(count) + " are queued";
    }
    if (state.tail - state.head != count) return "head and tail differ by another number than that of the queued pages";
    return {};
  }

 protected:
  static PageQueue lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    PageQueue allocator;
    if (arena.pool_bytes() / parameters.page_bytes > most_pages) {
      throw Unsupported(std::string(name) + " serves at most " + std::to_string(most_pages) +
                        " pages: use a smaller pool or larger page_bytes");
    }
    allocator.pages_ = PageArray::of_arena(arena, parameters.page_bytes, name);
    allocator.slot_mask_ = std::bit_ceil(allocator.pages_.count) - 1;
    allocator.state_ = arena.metadata<QueueState>(1);
    allocator.ring_ = arena.metadata<std::uint32_t>(std::size_t{allocator.slot_mask_} + 1);
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  static constexpr std::uint32_t most_pages = 1u << 30;  // the count is signed and may be too low by one per thread

  SIMT_FN std::uint32_t& slot(std::uint32_t ticket) const { return ring_[ticket & slot_mask_]; }

  PageArray pages_;
  QueueState* state_ = nullptr;
  std::uint32_t* ring_ = nullptr;
  std::uint32_t slot_mask_ = 0;
};

}  // namespace simple_queue
}  // namespace allocbench
