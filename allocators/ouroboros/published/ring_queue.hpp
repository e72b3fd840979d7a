// RingQueue is the standard queue (S): a flat ring per class. A put waits until its slot is empty, and a take waits
// until its slot is full.
//
// As published, a ring overflows if a class has more free pages than the ring has slots. Frees then wait until a lane
// takes a page.
#pragma once

#include "allocators/ouroboros/published/headed_chunks.hpp"

namespace allocbench::ouroboros::published {

// look() returns this value instead of an index if no segment contains the queue position. A lane that walks through
// the queue then skips the segment.
inline constexpr std::uint32_t gone = 0xfffffffeu;

struct Place {
  std::uint32_t* slot;
  std::uint32_t chunk;  // chunk of queue storage, for virtualised queues
};

// Release is what a free does with an entirely free chunk. With `full`, the free can return the chunk to the pool. With
// `pretended`, it takes the chunk's pages from the semaphore and signals them again. With `none`, it does nothing.
enum class Release { full, pretended, none };

struct RingQueue {
  static constexpr bool virtualised = false;
  static constexpr bool signals_first = true;  // true if a free signals first and enqueues second
  static constexpr Release release = Release::full;
  struct Ends {};

  std::uint32_t* slots = nullptr;
  std::uint32_t log = 0;  // log2 of the slots of class 0
  bool halves = false;    // true if the capacity halves from class to class

  SIMT_HOST_FN std::uint32_t capacity(std::uint32_t id) const { return 1u << (halves ? log - id : log); }
  SIMT_HOST_FN std::uint64_t begin(std::uint32_t id) const {
    return halves ? (std::uint64_t{2} << log) - (std::uint64_t{2} << (log - id)) : std::uint64_t{id} << log;
  }
  SIMT_FN std::uint32_t& slot(std::uint32_t id, std::uint32_t number) const {
    return slots[begin(id) + (number & (capacity(id) - 1))];
  }

  // Takes an index. Each lane of the group calls this function with its own queue position.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take(Thread& thread, const Group&, const HeadedChunks&, Ends&, std::uint32_t id,
                             std::uint32_t number) const {
    return take_waiting(thread, slot(id, number));
  }
  template <class Thread, class Group>
  SIMT_FN void put(Thread& thread, const Group&, const HeadedChunks&, Ends&, std::uint32_t id, std::uint32_t number,
                   std::uint32_t index) const {
    put_into(thread, slot(id, number), index);
  }
  // One lane puts the indices `index`, `index` + 1, ...
  template <class Thread>
  SIMT_FN void put_run(Thread& thread, const HeadedChunks&, Ends&, std::uint32_t id, std::uint32_t number,
                       std::uint32_t count, std::uint32_t index) const {
    for (std::uint32_t i = 0; i < count; ++i) put_into(thread, slot(id, number + i), index + i);
  }

  // Reads the entry at queue position `number` without taking it, and sets `place` to its slot.
  template <class Thread>
  SIMT_FN std::uint32_t look(Thread& thread, const HeadedChunks&, Ends&, std::uint32_t id, std::uint32_t number,
                             Place& place) const {
    place.slot = &slot(id, number);
    return thread.atomic(*place.slot).load(simt::acquire);
  }
  template <class Thread>
  SIMT_FN bool remove(Thread& thread, const HeadedChunks&, Ends&, std::uint32_t, std::uint32_t, const Place& place,
                      std::uint32_t index) const {
    return thread.atomic(*place.slot).compare_exchange(index, empty_slot, simt::relaxed, simt::relaxed);
  }
  // Puts a chunk. Tries 99 times to fill an empty slot, and then replaces the slot's index. Returns the replaced index,
  // or empty_slot if the slot was empty.
  template <class Thread>
  SIMT_FN std::uint32_t put_chunk(Thread& thread, const HeadedChunks&, Ends&, std::uint32_t id, std::uint32_t number,
                                  std::uint32_t index) const {
    constexpr std::uint32_t longest = 100;
    const auto place = thread.atomic(slot(id, number));
    for (std::uint32_t look = 1; look < longest; ++look) {
      std::uint32_t found = empty_slot;
      if (place.compare_exchange(found, index, simt::release, simt::relaxed)) return empty_slot;
      back_off(thread, look);
    }
    return place.exchange(index, simt::acq_rel);
  }

  template <class Thread>
  static SIMT_FN std::uint32_t take_waiting(Thread& thread, std::uint32_t& slot) {
    for (std::uint32_t look = 1;; ++look) {
      const std::uint32_t index = try_take_from(thread, slot);
      if (index != empty_slot) return index;
      back_off(thread, look);
    }
  }
};

}  // namespace allocbench::ouroboros::published
