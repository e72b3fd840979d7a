// In chunk-based Ouroboros (C), the queue of a size class holds the indices of its chunks that have free pages.
//
// Protocol:
// * A warp that takes a chunk from the queue is the only holder of the chunk. The warp draws the pages that it needs,
//   or all free pages if there are fewer: it subtracts their number from the chunk's count of free pages. If a page is
//   left, the warp puts the chunk back at the end of the queue. Then the warp picks the pages in the bit mask. A free
//   sets its page's bit before it increases the count, so the mask has no fewer set bits than the count says.
// * A chunk of the class is queued or held if and only if its count is not zero. The holder that draws the last page
//   does not put the chunk back, and the free that increases the count from zero does. Both change the same word, so
//   exactly one thread puts the chunk back.
// * A holder never draws more pages than the chunk has, because a negative count would not show who must put the chunk
//   back. So it usually loads the count before it draws. It needs no load for a single page, because a queued chunk has
//   at least one free page. It also needs none if the queue entry is marked. At its put, a marked chunk had at least as
//   many free pages as a warp can request, and the count can only have grown since. A second mark means at least twice
//   as many pages. Then some pages are certainly left, so the holder requests the queue position for the put-back
//   before it knows the result of the draw.
// * Waits end: Each unit of the semaphore is a free page of a chunk that is queued or held. A holder puts its chunk
//   back before it waits for another chunk.
// * An entirely free chunk may return to the pool: release_chunk().
//
// This design has a disadvantage: A chunk passes from warp to warp, and each warp waits for the previous one. With few
// chunks, many groups of lanes would wait for the same chunk. Therefore a group takes the pages of a new chunk if it
// sees many waiting groups (chunk_for_crowd() in refill.hpp). For this, a chunk must have pages for at least four such
// groups, and more than half the chunks must be fresh. A group cannot see groups that request at the same moment, but
// the queue position of its take shows how many came earlier. If many came earlier, the group adds a chunk after it is
// served. New chunks stay in their class (unless release_chunk() returns them), and later groups spread over them.
//
// Differs from the paper: A warp draws from a chunk once for all its lanes. In the paper, each lane looks at the chunk
// at the front and tries to draw one page. It continues with the next chunk if this chunk has no page. The chunk stays
// in the queue, and the lane that takes its last page empties the slot. Meanwhile a lane that frees a page may put the
// chunk into the queue again, so the queue may have it twice.
#pragma once

#include "allocators/ouroboros/heap.hpp"

namespace allocbench::ouroboros {

// Traffic holds the words by which is_crowded() decides. A group loads them before it knows whether it is served, so
// that its first check does not wait for them.
struct Traffic {
  std::uint32_t takes;
  std::uint32_t puts;
  std::uint32_t fresh;  // chunks of the pool that have been used
};

template <class StorageKind>
struct ChunkHeap : Heap<StorageKind> {
  using Storage = StorageKind;
  using Heap<Storage>::space;
  using Heap<Storage>::storage;
  using Heap<Storage>::classes;
  static constexpr bool chunk_based = true;
  // A queue index contains the chunk, its class and two marks. `many` means that the chunk has at least as many free
  // pages as a warp can request, and `plenty` that it has at least twice as many.
  static constexpr std::uint32_t chunk_bits = 26;
  static constexpr std::uint32_t many = 1u << 30;
  static constexpr std::uint32_t plenty = many | 1u << 31;
  static SIMT_HOST_FN std::uint32_t index_of(std::uint32_t chunk, std::uint32_t id) { return chunk | id << chunk_bits; }
  static SIMT_HOST_FN std::uint32_t chunk_of(std::uint32_t index) { return index & ((1u << chunk_bits) - 1); }

  std::uint32_t* masks = nullptr;  // mask_words(0) words per chunk; bit = 1: the page is free
  // For each chunk, this table has the slot that received the chunk last, in words from the base of the pool.
  std::uint64_t* queue_slots = nullptr;
  static constexpr std::uint64_t no_slot = ~std::uint64_t{0};
  static constexpr std::uint32_t least_groups_of_crowd = 4;
  std::uint32_t release_above = 0;
  std::uint32_t crowd = 0;  // a class is crowded if its takes exceed its puts by more than this

  static std::uint64_t most_chunks() { return std::uint64_t{1} << chunk_bits; }

  SIMT_HOST_FN std::uint32_t mask_words(std::uint32_t id) const {
    const std::uint32_t log = space.pages_log(id);
    return log <= 5 ? 1 : 1u << (log - 5);
  }
  SIMT_FN std::uint32_t* mask(std::uint32_t chunk) const { return masks + std::size_t{chunk} * mask_words(0); }

  // Returns how many entirely free chunks are needed for `units` pages.
  SIMT_FN std::uint32_t chunks_for(std::uint32_t id, std::uint32_t units) const {
    const std::uint32_t log = space.pages_log(id);
    return (units + (1u << log) - 1) >> log;
  }
  template <class Thread>
  SIMT_FN std::uint32_t number_takes_of(Thread& thread, std::uint32_t id, std::uint32_t units) const {
    return this->number_takes(thread, id, chunks_for(id, units));
  }

  template <class Thread>
  SIMT_FN Traffic traffic(Thread& thread, std::uint32_t id) const {
    return {thread.atomic(classes[id].front).load(simt::relaxed), thread.atomic(classes[id].back).load(simt::relaxed),
            thread.atomic(space.pool.state->next_fresh).load(simt::relaxed)};
  }
  // Returns the traffic for a group whose take has the queue position `number`.
  template <class Thread>
  SIMT_FN Traffic traffic_at(Thread& thread, std::uint32_t id, std::uint32_t number, const Traffic& before) const {
    return {number, thread.atomic(classes[id].back).load(simt::relaxed), before.fresh};
  }

  // Returns true if the takes of the class exceed its puts by more than `crowd`, a chunk has pages for at least four
  // groups of `lanes` lanes, and more than half the chunks were never used. `seen.takes` is the queue position of the
  // group's take, or of the next take of the class.
  SIMT_FN bool is_crowded(std::uint32_t id, std::uint32_t lanes, const Traffic& seen) const {
    return 1u << space.pages_log(id) >= least_groups_of_crowd * lanes &&
           static_cast<std::int32_t>(seen.takes - seen.puts) > static_cast<std::int32_t>(crowd) &&
           seen.fresh < space.pool.chunk_count / 2;
  }

  template <class Thread, class Group>
  SIMT_FN void* serve(Thread& thread, Group group, std::uint32_t id, std::uint32_t first) const {
    const std::uint32_t log = space.pages_log(id);
    for (;;) {
      // Lanes draw together in teams. A team has at most as many lanes as a chunk has pages.
      const std::uint32_t rank = group.thread_rank();
      const auto team = group.match_any(rank >> log);
      Draw draw{};
      if (team.leader()) draw = draw_pages(thread, id, first + (rank >> log), team.num_threads());
      draw.chunk = team.broadcast(draw.chunk);
      draw.count = team.broadcast(draw.count);
      draw.before = team.broadcast(draw.before);
      team.sync();  // The leader's acquire covers all lanes, because a lane that frees a page reads the chunk's header.
      const bool served = team.thread_rank() < draw.count;
      const auto alike = group.partition(served);
      if (served) {
        return space.page(draw.chunk, pick_page(thread, draw.chunk, id, draw.before, team.thread_rank()), id);
      }
      group = alike;
      if (group.leader()) first = number_takes_of(thread, id, group.num_threads());
      first = group.broadcast(first);
    }
  }

  template <class Thread>
  SIMT_FN std::uint32_t take_chunks_for(Thread& thread, std::uint32_t id, std::uint32_t wanted,
                                        std::uint32_t& first) const {
    return this->take_chunks(thread, id, wanted, 1, first);
  }

  // Divides chunks into pages like PageHeap::stock(), but puts only the last chunk into the queue, and only if `extra`
  // is not 0. The `extra` free pages are the last pages of this chunk. All other chunks are used up.
  template <class Thread, class Group>
  SIMT_FN void stock(Thread& thread, const Group& group, std::uint32_t id, std::uint32_t first, std::uint32_t count,
                     std::uint32_t used, std::uint32_t extra, std::uint64_t promised) const {
    const std::uint32_t last = first + count - 1;
    const std::uint32_t words_log = simt::count_trailing_zeros(mask_words(id));
    const std::uint32_t used_in_last = used - ((count - 1) << space.pages_log(id));
    const std::uint32_t pages = 1u << space.pages_log(id);
    for (std::uint32_t i = group.thread_rank(); i < count << words_log; i += group.num_threads()) {
      const std::uint32_t chunk = first + (i >> words_log);
      const std::uint32_t word = i & ((1u << words_log) - 1);
      const std::uint32_t free_bits =
          chunk != last ? 0 : ones_from(used_in_last, word * 32) & ~ones_from(pages, word * 32);
      thread.atomic(mask(chunk)[word]).store(free_bits, simt::relaxed);
      if (word == 0) {
        thread.atomic(space.headers[chunk]).store(Header::of(id, chunk == last ? extra : 0), simt::relaxed);
      }
    }
    group.sync();  // the headers are written before any lane hands out a page
    if (!group.leader()) return;
    this->free_pages(id).settle(thread, promised, extra);
    if (extra != 0) enqueue(thread, id, last, extra);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::size_t offset) const {
    const auto chunk = static_cast<std::uint32_t>(offset >> space.chunk_log);
    const auto header = thread.atomic(space.headers[chunk]);
    const std::uint32_t id = Header::id(header.load(simt::relaxed));
    const std::uint32_t page =
        (static_cast<std::uint32_t>(offset) & ((1u << space.chunk_log) - 1)) >> (id + smallest_page_log);
    thread.atomic(mask(chunk)[page / 32]).fetch_or(1u << page % 32, simt::release);
    const auto all = thread.converged();
    const auto group = all.match_any(chunk);
    const std::uint32_t count = group.num_threads();
    group.sync();  // the leader's release covers all lanes
    std::uint32_t now_free = 0;
    if (group.leader()) {
      // The release makes the set bits visible to a release_chunk() that finds all pages counted as free.
      const std::uint32_t before = header.fetch_add(count * Header::one_page, simt::release);
      if (Header::free_pages(before) == 0) enqueue(thread, id, chunk, count);
      now_free = Header::free_pages(before) + count;
    }
    const auto same_class = all.match_any(id);
    if (same_class.leader()) this->free_pages(id).signal(thread, same_class.num_threads());
    if (now_free == 1u << space.pages_log(id)) release_chunk(thread, id, chunk);
  }

 private:
  struct Draw {
    std::uint32_t chunk;
    std::uint32_t count;   // pages drawn
    std::uint32_t before;  // free pages of the chunk before the draw
  };

  // Returns a mask of the bits at and above bit `first` in the word that begins with bit `from_bit` of a long mask.
  static SIMT_FN std::uint32_t ones_from(std::uint32_t first, std::uint32_t from_bit) {
    if (first <= from_bit) return 0xffffffffu;
    return first - from_bit >= 32 ? 0 : 0xffffffffu << (first - from_bit);
  }

  // Puts a chunk with at least `free_pages` free pages into the queue.
  template <class Thread>
  SIMT_FN void enqueue(Thread& thread, std::uint32_t id, std::uint32_t chunk, std::uint32_t free_pages) const {
    put_back(thread, id, this->number_puts(thread, id, 1), chunk, free_pages);
  }
  template <class Thread>
  SIMT_FN void put_back(Thread& thread, std::uint32_t id, std::uint32_t number, std::uint32_t chunk,
                        std::uint32_t free_pages) const {
    const auto place = this->template place<QueueEnd::back>(thread, id, number);
    const auto slot = static_cast<std::uint64_t>(place.slot - reinterpret_cast<const std::uint32_t*>(space.base));
    thread.atomic(queue_slots[chunk]).store(slot, simt::relaxed);
    const std::uint32_t mark = free_pages >= 2 * simt::warp_size ? plenty : free_pages >= simt::warp_size ? many : 0;
    put_into(thread, *place.slot, index_of(chunk, id) | mark);
  }

  // Takes the chunk at queue position `number` and draws up to `wanted` of its pages. One loop contains both the wait
  // and the put-back, because a lane of a warp may wait for a chunk that another lane of this warp puts back.
  template <class Thread>
  SIMT_FN Draw draw_pages(Thread& thread, std::uint32_t id, std::uint32_t number, std::uint32_t wanted) const {
    const auto place = this->template place<QueueEnd::front>(thread, id, number);
    Draw draw{no_chunk, 0, 0};
    bool looks_first = false;
    while (draw.chunk == no_chunk) {
      std::uint32_t index = empty_slot;
      if (!looks_first || thread.atomic(*place.slot).load(simt::relaxed) != empty_slot) {
        index = try_take_from(thread, *place.slot);
      }
      if (index == empty_slot) {
        looks_first = true;
        thread.probe(simt::Step::retry);
        thread.spin_hint();
        continue;
      }
      // This call precedes the put-back, because the put-back may need the queue chunk that the call frees.
      storage.leave_alone(thread, space, classes[id].storage, id, place);
      draw.chunk = chunk_of(index);
      const auto header = thread.atomic(space.headers[draw.chunk]);
      draw.count = wanted;
      if (wanted != 1 && (index & many) == 0) {
        const std::uint32_t there = Header::free_pages(header.load(simt::relaxed));
        draw.count = there < wanted ? there : wanted;
      }
      const std::uint32_t before = header.fetch_sub(draw.count * Header::one_page, simt::relaxed);
      const bool goes_back = (index & plenty) == plenty;
      std::uint32_t number_back = goes_back ? this->number_puts(thread, id, 1) : 0;
      draw.before = Header::free_pages(before);
      if (draw.before != draw.count) {
        if (!goes_back) number_back = this->number_puts(thread, id, 1);
        put_back(thread, id, number_back, draw.chunk, draw.before - draw.count);
      }
    }
    return draw;
  }

  // Takes a free page of `chunk` for the lane of rank `rank`. `before` is the count of free pages before the draw. The
  // search begins with the word of page `before` - 1, so warps that draw 32 pages each begin with different words.
  // These words usually have free pages.
  template <class Thread>
  SIMT_FN std::uint32_t pick_page(Thread& thread, std::uint32_t chunk, std::uint32_t id, std::uint32_t before,
                                  std::uint32_t rank) const {
    const std::uint32_t last_word = mask_words(id) - 1;
    std::uint32_t word = (before - 1) / 32 & last_word;
    std::uint32_t skip = rank;
    for (std::uint32_t visited = 0;; ++visited) {
      const auto bits = thread.atomic(mask(chunk)[word]);
      std::uint32_t left = bits.load(simt::relaxed);
      while (simt::popcount(left) > skip) {
        thread.probe(simt::Step::attempt);
        const std::uint32_t bit = simt::nth_set_bit(left, skip);
        const std::uint32_t found = bits.fetch_and(~(1u << bit), simt::acquire);
        if ((found >> bit & 1) != 0) return word * 32 + bit;
        thread.probe(simt::Step::retry);
        left = found;
      }
      // After one lap over the words, the lane accepts any bit. A set bit exists, but may not be visible yet.
      skip = visited >= last_word ? 0 : skip - simt::popcount(left);
      if (visited >= last_word) thread.spin_hint();
      thread.probe(simt::Step::walk);
      word = (word - 1) & last_word;
    }
  }

  // Tries to return `chunk` to the pool if the class has more than `release_above` chunks in its queue. The caller has
  // seen the chunk entirely free. The thread needs room in the ring of returned chunks, and units of the semaphore for
  // all pages of a chunk. Without them it gives up. The chunk is usually somewhere in the queue, but only the chunk at
  // the front can leave the queue. So this thread takes the chunk at the front and tries to exchange it for `chunk` in
  // the slot of `chunk`. The chunk that it then holds goes to the pool if it is entirely free, otherwise back into the
  // queue. Until then the pages of this chunk belong neither to the class nor to the pool. They are announced, so that
  // a request that finds no page waits instead of failing.
  template <class Thread>
  SIMT_FN void release_chunk(Thread& thread, std::uint32_t id, std::uint32_t chunk) const {
    const std::uint32_t queued =
        thread.atomic(classes[id].back).load(simt::relaxed) - thread.atomic(classes[id].front).load(simt::relaxed);
    if (static_cast<std::int32_t>(queued) <= static_cast<std::int32_t>(release_above)) return;
    if (!space.pool.reserve_room(thread)) return;
    const std::uint32_t pages = 1u << space.pages_log(id);
    const BulkSemaphore units = this->free_pages(id);
    const std::uint64_t announced = BulkSemaphore::promise(0, pages);
    units.announce(thread, pages);
    const std::uint32_t taken = units.take_if_any(thread, pages);
    if (taken != pages) {
      units.settle(thread, announced, taken);
      space.pool.refuse_room(thread);
      return;
    }
    const auto place = this->template place<QueueEnd::front>(thread, id, this->number_takes(thread, id, 1));
    std::uint32_t held = chunk_of(take_from(thread, *place.slot));
    storage.leave_alone(thread, space, classes[id].storage, id, place);
    const std::uint64_t slot = thread.atomic(queue_slots[chunk]).load(simt::relaxed);
    if (held != chunk && slot != no_slot) {
      // A slot holds the index of this chunk and class only if the chunk is in the queue of this class, in this slot
      // and no other. This is true even for an old slot that now belongs to another segment. The exchange fails if the
      // chunk is on its way into the queue, or if another thread holds or has released it.
      thread.atomic(queue_slots[held]).store(slot, simt::relaxed);
      const auto word = thread.atomic(reinterpret_cast<std::uint32_t*>(space.base)[slot]);
      for (const std::uint32_t mark : {plenty, many, 0u}) {
        std::uint32_t found = index_of(chunk, id) | mark;
        if (word.compare_exchange(found, index_of(held, id), simt::acq_rel, simt::relaxed)) {
          held = chunk;
          break;
        }
      }
    }
    // This thread is the chunk's only holder, so if all pages are free, they stay free. The load acquires, so all
    // changes of the mask by frees are visible.
    if (thread.atomic(space.headers[held]).load(simt::acquire) == Header::of(id, pages)) {
      storage.uncover(thread, classes[id].storage, 1);
      space.pool.give(thread, held);
      units.settle(thread, announced, 0);
    } else {
      enqueue(thread, id, held, 0);
      units.settle(thread, announced, pages);
      space.pool.refuse_room(thread);
    }
  }
};

}  // namespace allocbench::ouroboros
