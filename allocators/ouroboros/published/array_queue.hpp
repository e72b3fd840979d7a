// ArrayQueue is the virtualised array hierarchy (VA): the queue lies in chunks of the pool ("segments"), and a ring per
// class finds them.
//
// The lane that puts into the first slot of a segment adds the next segment in advance. The lane that completes a
// segment, by the last put or the last take, removes it from the ring and returns its chunk.
//
// Differs from the published queue: A thread that finds another segment's chunk waits; the published code traps.
#pragma once

#include "allocators/ouroboros/published/ring_queue.hpp"

namespace allocbench::ouroboros::published {

struct ArrayQueue {
  static constexpr bool virtualised = true;
  static constexpr bool signals_first = true;
  static constexpr Release release = Release::pretended;
  struct Ends {};

  std::uint32_t* directory = nullptr;  // the rings of all classes
  std::uint32_t directory_log = 0;

  SIMT_FN std::uint32_t& entry(std::uint32_t id, std::uint32_t segment) const {
    return directory[(std::uint64_t{id} << directory_log) + (segment & ((1u << directory_log) - 1))];
  }

  template <class Thread, class Group>
  SIMT_FN std::uint32_t take(Thread& thread, const Group&, const HeadedChunks& chunks, Ends&, std::uint32_t id,
                             std::uint32_t number) const {
    const std::uint32_t chunk = locate(thread, chunks, id, number);
    const std::uint32_t index = RingQueue::take_waiting(thread, slot(chunks, chunk, number));
    count(thread, chunks, id, number, chunk, one_take);
    return index;
  }
  template <class Thread, class Group>
  SIMT_FN void put(Thread& thread, const Group&, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                   std::uint32_t number, std::uint32_t index) const {
    put_run(thread, chunks, ends, id, number, 1, index);
  }
  template <class Thread>
  SIMT_FN void put_run(Thread& thread, const HeadedChunks& chunks, Ends&, std::uint32_t id, std::uint32_t number,
                       std::uint32_t many, std::uint32_t index) const {
    std::uint32_t chunk = no_chunk;
    for (std::uint32_t i = 0; i < many; ++i, ++number) {
      if (is_first(chunks, number)) add_segment(thread, chunks, id, number);
      if (i == 0 || is_first(chunks, number)) chunk = locate(thread, chunks, id, number);
      put_into(thread, slot(chunks, chunk, number), index + i);
      count(thread, chunks, id, number, chunk, one_put);
    }
  }

  template <class Thread>
  SIMT_FN std::uint32_t look(Thread& thread, const HeadedChunks& chunks, Ends&, std::uint32_t id, std::uint32_t number,
                             Place& place) const {
    place.chunk = thread.atomic(entry(id, number >> chunks.slots_log())).load(simt::acquire);
    if (place.chunk == no_chunk || !holds(thread, chunks, place.chunk, id, number)) return gone;
    place.slot = &slot(chunks, place.chunk, number);
    return thread.atomic(*place.slot).load(simt::acquire);
  }
  template <class Thread>
  SIMT_FN bool remove(Thread& thread, const HeadedChunks& chunks, Ends&, std::uint32_t id, std::uint32_t number,
                      const Place& place, std::uint32_t index) const {
    if (!thread.atomic(*place.slot).compare_exchange(index, empty_slot, simt::relaxed, simt::relaxed)) return false;
    count(thread, chunks, id, number, place.chunk, one_take);
    return true;
  }
  template <class Thread>
  SIMT_FN std::uint32_t put_chunk(Thread& thread, const HeadedChunks& chunks, Ends& ends, std::uint32_t id,
                                  std::uint32_t number, std::uint32_t index) const {
    put_run(thread, chunks, ends, id, number, 1, index);
    return empty_slot;
  }

  // Makes `chunk` the first segment of a class. No other thread may use the class yet.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, const HeadedChunks& chunks, Ends&, std::uint32_t id,
                          std::uint32_t chunk) const {
    make_queue_storage(thread, chunks, chunk, id, 0);
    thread.atomic(entry(id, 0)).store(chunk, simt::relaxed);
  }

 private:
  static SIMT_FN bool is_first(const HeadedChunks& chunks, std::uint32_t number) {
    return (number & ((1u << chunks.slots_log()) - 1)) == 0;
  }
  static SIMT_FN std::uint32_t& slot(const HeadedChunks& chunks, std::uint32_t chunk, std::uint32_t number) {
    return chunks.slots(chunk)[number & ((1u << chunks.slots_log()) - 1)];
  }
  template <class Thread>
  static SIMT_FN bool holds(Thread& thread, const HeadedChunks& chunks, std::uint32_t chunk, std::uint32_t id,
                            std::uint32_t number) {
    const std::uint32_t first = number & ~((1u << chunks.slots_log()) - 1);
    return thread.atomic(chunks.header(chunk).segment).load(simt::relaxed) == (std::uint64_t{id} << 32 | first);
  }

  template <class Thread>
  SIMT_FN std::uint32_t locate(Thread& thread, const HeadedChunks& chunks, std::uint32_t id,
                               std::uint32_t number) const {
    const auto place = thread.atomic(entry(id, number >> chunks.slots_log()));
    for (std::uint32_t look = 1;; ++look) {
      const std::uint32_t chunk = place.load(simt::acquire);
      if (chunk != no_chunk && holds(thread, chunks, chunk, id, number)) return chunk;
      back_off(thread, look);
    }
  }

  // Adds the next segment. The caller has the first queue position of the segment before it.
  template <class Thread>
  SIMT_FN void add_segment(Thread& thread, const HeadedChunks& chunks, std::uint32_t id, std::uint32_t number) const {
    const std::uint32_t behind = number + (1u << chunks.slots_log());
    const std::uint32_t chunk = chunks.take_for_queue(thread);
    make_queue_storage(thread, chunks, chunk, id, behind);
    put_into(thread, entry(id, behind >> chunks.slots_log()), chunk);
  }

  template <class Thread>
  SIMT_FN void count(Thread& thread, const HeadedChunks& chunks, std::uint32_t id, std::uint32_t number,
                     std::uint32_t chunk, std::uint32_t change) const {
    if (!count_entries(thread, chunks, chunk, change)) return;
    thread.atomic(entry(id, number >> chunks.slots_log())).exchange(no_chunk, simt::relaxed);
    chunks.give(thread, chunk);
  }
};

}  // namespace allocbench::ouroboros::published
