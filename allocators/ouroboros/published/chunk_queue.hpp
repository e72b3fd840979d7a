// In the published chunk-based Ouroboros, the queue of a size class holds its chunks that have free pages. A chunk
// stays in the queue while lanes take its pages.
//
// malloc: Every lane that holds a unit of the semaphore walks through the queue from the front. It subtracts one from
// each chunk's count of free pages until it finds a chunk with a page. Then it picks a set bit of the chunk's mask. The
// lane that takes the last page moves the front behind the chunk and removes the entry. A lane that finds no page adds
// back what it subtracted. Meanwhile a free may have given the chunk a page without putting the chunk back into the
// queue. Then this lane tries again, and puts the chunk back if it gets a page that is not the last one.
//
// free: A free sets the bit, adds one to the count, puts the chunk back if the count was zero, and signals the
// semaphore. An entirely free chunk may return to the pool: release_chunk().
//
// A weakness of the design: A chunk may be in the queue twice, if a free puts it back before the lane that took its
// last page has removed the entry. One entry then stays without a page. Lanes skip it, and in a virtualised queue the
// segment with this entry is never completed.
//
// Differs from the paper:
// * A lane that finds no more chunks begins again and finally returns null. In the paper it continues forever, or traps
//   at the storage of another class.
// * An entry is removed only if the chunk is still in it.
// * A lane that has waited long to put a chunk into an occupied place of a ring takes the place over. In the paper it
//   waits forever.
#pragma once

#include "allocators/ouroboros/published/heap.hpp"

namespace allocbench::ouroboros::published {

template <class QueueKind>
struct ChunkQueueHeap : Heap<QueueKind> {
  using Queue = QueueKind;
  using Heap<Queue>::chunks;
  using Heap<Queue>::classes;
  using Heap<Queue>::queue;
  static constexpr bool chunk_based = true;
  static constexpr std::uint32_t most_laps = 256;
  static constexpr std::uint32_t no_page = 0xffffffffu;

  std::uint64_t most_chunks() const { return gone - 1; }
  std::uint64_t most_indices(std::uint32_t) const { return chunks.chunk_count; }

  template <class Thread>
  SIMT_FN std::uint32_t number_takes(Thread&, std::uint32_t, std::uint32_t) const {
    return 0;
  }

  template <class Thread, class Group>
  SIMT_FN void* serve(Thread& thread, const Group&, std::uint32_t id, std::uint32_t) const {
    auto& state = classes[id];
    for (std::uint32_t lap = 0; lap < most_laps; ++lap) {
      if (lap != 0) back_off(thread, lap);
      std::uint32_t number = begin_lap(lap, thread.atomic(state.front).load(simt::acquire));
      for (std::uint32_t step = 1;; ++step, ++number) {
        Place place{};
        const std::uint32_t chunk = queue.look(thread, chunks, state.ends, id, number, place);
        if (chunk == gone) number |= (1u << chunks.slots_log()) - 1;  // skips a whole segment
        // All places behind the last chunk are empty.
        if ((chunk == gone || step % 64 == 0) && passed(number, thread.atomic(state.back).load(simt::relaxed))) break;
        if (chunk == gone || chunk == empty_slot) continue;
        thread.probe(simt::Step::walk);
        bool last = false;
        bool put_back = false;
        if (!draw_page(thread, chunk, last, put_back)) continue;
        const std::uint32_t page = pick_page(thread, chunk, id);
        if (last) {
          thread.atomic(state.front).fetch_max(number + 1, simt::release);
          if (queue.remove(thread, chunks, state.ends, id, number, place, chunk)) {
            thread.atomic(state.chunks).fetch_sub(1u, simt::relaxed);
          }
        } else if (put_back) {
          enqueue(thread, id, chunk);
        }
        return page == no_page ? nullptr : chunks.page(chunk, page, id);
      }
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN bool make_pages(Thread& thread, std::uint32_t id) const {
    std::uint32_t chunk;
    if (!this->take_chunk(thread, id, 1, chunk)) return false;
    this->set_pages(thread, chunk, id);
    ChunkHeader& header = chunks.header(chunk);
    const std::uint32_t pages = 1u << chunks.pages_log(id);
    for (std::uint32_t word = 0; word < mask_words(id); ++word) {
      thread.atomic(header.mask[word]).store(pages >= 32 ? ~0u : (1u << pages) - 1, simt::relaxed);
    }
    thread.atomic(header.queue_place).store(no_place, simt::relaxed);
    thread.atomic(header.free_pages).store(pages, simt::release);
    enqueue(thread, id, chunk);
    this->free_pages(id).signal_expected(thread, pages);
    return true;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::size_t offset) const {
    const std::uint32_t chunk = chunks.chunk_of(thread, offset);
    const std::uint32_t id = this->class_of_chunk(thread, chunk);
    const std::uint32_t page = this->page_of(chunk, offset, id);
    ChunkHeader& header = chunks.header(chunk);
    thread.atomic(header.mask[page / 32]).fetch_or(1u << page % 32, simt::release);
    const std::uint32_t before = thread.atomic(header.free_pages).fetch_add(1u, simt::release);
    if (before == 0) enqueue(thread, id, chunk);
    const std::uint32_t pages = 1u << chunks.pages_log(id);
    const std::uint32_t signals = before + 1 == pages ? release_chunk(thread, id, chunk, pages) : 1;
    if (signals != 0) this->free_pages(id).signal(thread, signals);
  }

 private:
  static constexpr std::uint32_t no_place = 0xffffffffu;

  SIMT_FN std::uint32_t mask_words(std::uint32_t id) const {
    const std::uint32_t log = chunks.pages_log(id);
    return log <= 5 ? 1 : 1u << (log - 5);
  }
  // Returns the queue position at which a lap begins. A chunk may enter the queue at a place that the front has already
  // passed, because another lane put a chunk behind it first. So a lane that found nothing starts its next lap 64
  // places before the front, then 128, and so on up to 2^23 (a whole ring of the default size). After lap 18, every
  // 64th lap starts 2^23 places before the front, and the other laps start 64 before it.
  static SIMT_FN std::uint32_t begin_lap(std::uint32_t lap, std::uint32_t front) {
    if (lap == 0) return front;
    constexpr std::uint32_t farthest = 18;
    const std::uint32_t back = lap <= farthest ? 32u << lap : 64u << (lap % 64 == 0 ? farthest - 1 : 0);
    return back < front ? front - back : 0;
  }
  static SIMT_FN bool passed(std::uint32_t number, std::uint32_t back) {
    return static_cast<std::int32_t>(number - back) >= 0;
  }

  template <class Thread>
  SIMT_FN void enqueue(Thread& thread, std::uint32_t id, std::uint32_t chunk) const {
    auto& state = classes[id];
    while (chunk != empty_slot) {
      const std::uint32_t number = thread.atomic(state.back).fetch_add(1u, simt::relaxed);
      const std::uint32_t displaced = queue.put_chunk(thread, chunks, state.ends, id, number, chunk);
      thread.atomic(chunks.header(chunk).queue_place).store(number, simt::release);
      thread.atomic(state.chunks).fetch_add(1u, simt::relaxed);
      chunk = empty_slot;
      if (displaced != empty_slot && has_pages(thread, displaced)) chunk = displaced;
    }
  }
  template <class Thread>
  SIMT_FN bool has_pages(Thread& thread, std::uint32_t chunk) const {
    return static_cast<std::int32_t>(thread.atomic(chunks.header(chunk).free_pages).load(simt::relaxed)) > 0;
  }

  // Subtracts one from the count of the chunk, and adds it again if there is no page. Returns whether there was a page.
  // Sets `last` if this was the last page, and `put_back` if the chunk has pages and is not in the queue.
  template <class Thread>
  SIMT_FN bool draw_page(Thread& thread, std::uint32_t chunk, bool& last, bool& put_back) const {
    const auto count = thread.atomic(chunks.header(chunk).free_pages);
    auto before = static_cast<std::int32_t>(count.fetch_sub(1u, simt::acquire));
    while (before <= 0) {
      thread.probe(simt::Step::retry);
      const auto then = static_cast<std::int32_t>(count.fetch_add(1u, simt::relaxed));
      if (then < 0) return false;
      if (then == 0) put_back = true;
      before = static_cast<std::int32_t>(count.fetch_sub(1u, simt::acquire));
    }
    last = before == 1;
    return true;
  }

  // Takes a set bit of the mask. At least one bit is set or will be soon. Neighbouring lanes begin at different bits,
  // and at different words if the mask has several. Returns no_page if 65,536 looks find none.
  template <class Thread>
  SIMT_FN std::uint32_t pick_page(Thread& thread, std::uint32_t chunk, std::uint32_t id) const {
    constexpr std::uint32_t most_looks = 1u << 16;
    const std::uint32_t words = mask_words(id);
    const std::uint32_t start = thread.rank_in_block() + 1;
    const std::uint32_t turn = (thread.rank_in_block() + thread.block()) & 31;
    for (std::uint32_t look = 0; look < most_looks; ++look) {
      const std::uint32_t word = (start + look) & (words - 1);
      const auto mask = thread.atomic(chunks.header(chunk).mask[word]);
      std::uint32_t bits = mask.load(simt::relaxed);
      while (bits != 0) {
        thread.probe(simt::Step::attempt);
        const std::uint32_t turned = bits >> turn | bits << ((32 - turn) & 31);
        const std::uint32_t bit = (simt::count_trailing_zeros(turned) + turn) & 31;
        const std::uint32_t found = mask.fetch_and(~(1u << bit), simt::acquire);
        if ((found >> bit & 1) != 0) return word * 32 + bit;
        bits = found;
      }
      if (look >= words) thread.spin_hint();
    }
    return no_page;
  }

  // Tries to give an entirely free chunk back to the pool if the queue has more than `release_above` chunks and
  // Queue::release is Release::full. Returns the number of pages that the caller must still signal, its own included.
  template <class Thread>
  SIMT_FN std::uint32_t release_chunk(Thread& thread, std::uint32_t id, std::uint32_t chunk,
                                      std::uint32_t pages) const {
    if constexpr (Queue::release == Release::none) return 1;
    auto& state = classes[id];
    const std::uint32_t queued = thread.atomic(state.chunks).load(simt::relaxed);
    if (static_cast<std::int32_t>(queued) <= static_cast<std::int32_t>(this->release_above)) return 1;
    if (pages != 1 && !this->free_pages(id).try_reduce(thread, pages - 1)) return 1;
    if constexpr (Queue::release == Release::pretended) return pages;
    ChunkHeader& header = chunks.header(chunk);
    std::uint32_t full = pages;
    if (!thread.atomic(header.free_pages).compare_exchange(full, 0u, simt::acq_rel, simt::relaxed)) return pages;
    const auto queue_place = thread.atomic(header.queue_place);
    std::uint32_t number = queue_place.load(simt::acquire);
    for (std::uint32_t look = 1; number == no_place; ++look) {
      back_off(thread, look);
      number = queue_place.load(simt::acquire);
    }
    Place place{};
    if (queue.look(thread, chunks, state.ends, id, number, place) == chunk &&
        queue.remove(thread, chunks, state.ends, id, number, place, chunk)) {
      thread.atomic(state.chunks).fetch_sub(1u, simt::relaxed);
    }
    chunks.give(thread, chunk);
    return 0;
  }
};

}  // namespace allocbench::ouroboros::published
