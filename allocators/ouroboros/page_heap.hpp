// In page-based Ouroboros (P), the queue of a size class holds the indices of its free pages.
//
// The index of a page is its offset in the pool in units of 16 bytes. (The published index is chunk << 9 | page; ours
// works for any chunk size.) Our index has 32 bits, so the pages can cover 64 GiB. Pages never leave their class. With
// a flat ring and without waits, a malloc costs an exchange on the lane's own slot and two additions that the lane
// shares with its group: one to the semaphore and one to the front of the queue. A free costs a load of the chunk's
// header, a compare-exchange and two shared additions. Virtualised queues also find the segment, and a malloc counts
// the emptied slots.
#pragma once

#include "allocators/ouroboros/heap.hpp"

namespace allocbench::ouroboros {

template <class StorageKind>
struct PageHeap : Heap<StorageKind> {
  using Storage = StorageKind;
  using Heap<Storage>::space;
  using Heap<Storage>::storage;
  using Heap<Storage>::classes;
  static constexpr bool chunk_based = false;

  // Returns the largest number of chunks. Indices of pages are 32-bit words, and one value means "none".
  std::uint64_t most_chunks() const { return empty_slot >> space.pages_log(0); }

  // Returns the first of the queue positions for the takes of `units` pages.
  template <class Thread>
  SIMT_FN std::uint32_t number_takes_of(Thread& thread, std::uint32_t id, std::uint32_t units) const {
    return this->number_takes(thread, id, units);
  }

  // Takes a page for a lane that owns a unit of the class's semaphore. A unit stands for one page in the queue. `group`
  // contains the lanes that request this class and own a unit. `first` is the queue position of the first take.
  template <class Thread, class Group>
  SIMT_FN void* serve(Thread& thread, const Group& group, std::uint32_t id, std::uint32_t first) const {
    const auto place = this->template place<QueueEnd::front>(thread, id, first + group.thread_rank());
    const std::uint32_t page = take_from(thread, *place.slot);
    storage.leave(thread, group, space, classes[id].storage, id, place);
    return space.base + (std::size_t{page} << smallest_page_log);
  }

  template <class Thread>
  SIMT_FN std::uint32_t take_chunks_for(Thread& thread, std::uint32_t id, std::uint32_t wanted,
                                        std::uint32_t& first) const {
    return this->take_chunks(thread, id, wanted, 1u << space.pages_log(id), first);
  }

  // Divides the `count` chunks from `first` into pages of the class. The lanes of `group` do this together. The first
  // `used` pages stay with the lanes that took the chunks, and the other `extra` pages go into the queue. `promised` is
  // the demand and the announcement that end here (BulkSemaphore::promise()).
  template <class Thread, class Group>
  SIMT_FN void stock(Thread& thread, const Group& group, std::uint32_t id, std::uint32_t first, std::uint32_t count,
                     std::uint32_t used, std::uint32_t extra, std::uint64_t promised) const {
    const std::uint32_t rank = group.thread_rank();
    for (std::uint32_t i = rank; i < count; i += group.num_threads()) {
      thread.atomic(space.headers[first + i]).store(Header::of(id, 0), simt::relaxed);
    }
    group.sync();  // the headers are written before any lane hands out a page
    std::uint32_t number = 0;
    if (group.leader()) {
      if (extra != 0) number = this->number_puts(thread, id, extra);
      this->free_pages(id).settle(thread, promised, extra);
    }
    number = group.broadcast(number);
    const std::uint32_t first_page = (first << space.pages_log(0)) + (used << id);
    for (std::uint32_t i = rank; i < extra; i += group.num_threads()) {
      const auto place = this->template place<QueueEnd::back>(thread, id, number + i);
      put_into(thread, *place.slot, first_page + (i << id));
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::size_t offset) const {
    const auto chunk = static_cast<std::uint32_t>(offset >> space.chunk_log);
    const std::uint32_t id = Header::id(thread.atomic(space.headers[chunk]).load(simt::relaxed));
    const auto group = thread.converged().match_any(id);
    std::uint32_t number = 0;
    if (group.leader()) {
      // Either order of the two steps is correct. A lane that gets one of these units before the put waits at the
      // slot.
      this->free_pages(id).signal(thread, group.num_threads());
      number = this->number_puts(thread, id, group.num_threads());
    }
    number = group.broadcast(number) + group.thread_rank();
    const auto place = this->template place<QueueEnd::back>(thread, id, number);
    put_into(thread, *place.slot, static_cast<std::uint32_t>(offset >> smallest_page_log));
  }
};

}  // namespace allocbench::ouroboros
