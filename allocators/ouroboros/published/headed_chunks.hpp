// HeadedChunks is the pool of the published form: equal chunks, each with a header of 128 bytes in front of its data.
//
//   [ header 0 | data 0 | header 1 | data 1 | ... | queues of all classes | ring of chunks to reuse | start flags ]
//
// A chunk holds pages of one class, or it is storage of a queue. A growing counter numbers the fresh chunks. A ring
// keeps chunks that are free again, and these are used first. A chunk is lost if it is returned while the ring is full.
// A free finds the chunk of its block by a division and a backward search for the nearest start flag. (In the authors'
// code, some instances have chunks that span four base chunks.)
//
// Differs from the published pool:
// * If no chunk is left, the take fails; the published code writes beyond the pool.
// * If queues lie in chunks, a chunk of pages is refused unless chunks are left for the queue entries of all its pages
//   (commit()). Without this rule, a free in a full pool would need memory that does not exist.
// * Fields of queue storage have their own place in the header, so that a slow reader of a reused chunk notices the
//   reuse.
#pragma once

#include "allocators/ouroboros/published/packed_semaphore.hpp"
#include "allocators/support/common/index_slot.hpp"
#include "allocators/support/common/modulo.hpp"
#include "allocators/support/common/units.hpp"

namespace allocbench::ouroboros::published {

inline constexpr std::uint32_t no_chunk = 0xffffffffu;

struct ChunkHeader {
  std::uint32_t page_bytes;  // bytes of a page; 0 for queue storage
  std::uint32_t pages;
  // Chunk-based variants use these fields.
  std::uint32_t free_pages;   // free pages in two's complement
  std::uint32_t queue_place;  // queue position of the chunk's last put
  std::uint32_t mask[16];     // bit = 1: the page is free
  // Queue storage uses these fields.
  std::uint64_t segment;  // class in the upper half, queue position of the first slot in the lower half
  std::uint32_t entries;  // upper half: finished puts minus finished takes; lower half: finished puts
  std::uint32_t next;     // chunk of the next segment (VL)
};
inline constexpr std::uint32_t header_bytes = 128;
static_assert(sizeof(ChunkHeader) <= header_bytes);

struct HeadedChunks {
  // All bytes are zero at first.
  struct Control {
    std::uint32_t next_fresh;
    std::uint32_t reusable;  // chunks in the ring
    std::uint32_t reuse_front;
    std::uint32_t reuse_back;
    std::uint32_t committed;  // chunks of pages and chunks that the queues may need
  };

  std::byte* base = nullptr;
  Control* control = nullptr;
  std::uint32_t* reuse_ring = nullptr;
  std::uint32_t* start_flags = nullptr;  // one bit per chunk
  Modulo stride_units;                   // divides by the stride in units of 64 bytes, the smallest chunk
  std::uint32_t stride = 0;
  std::uint32_t chunk_count = 0;
  std::uint32_t chunk_log = 0;  // log2 of the data bytes of a chunk
  std::uint32_t reuse_capacity = 0;

  SIMT_HOST_FN std::uint32_t class_count() const { return chunk_log - 3; }
  SIMT_HOST_FN std::uint32_t pages_log(std::uint32_t id) const { return chunk_log - 4 - id; }
  SIMT_HOST_FN std::uint32_t slots_log() const { return chunk_log - 2; }  // log2 of the slots of a queue chunk
  SIMT_HOST_FN std::size_t bytes() const { return std::size_t{chunk_count} * stride; }

  SIMT_FN ChunkHeader& header(std::uint32_t chunk) const {
    return *reinterpret_cast<ChunkHeader*>(base + std::size_t{chunk} * stride);
  }
  SIMT_FN std::byte* data(std::uint32_t chunk) const { return base + std::size_t{chunk} * stride + header_bytes; }
  SIMT_FN std::uint32_t* slots(std::uint32_t chunk) const { return reinterpret_cast<std::uint32_t*>(data(chunk)); }
  SIMT_FN void* page(std::uint32_t chunk, std::uint32_t page_index, std::uint32_t id) const {
    return data(chunk) + (page_index << (id + 4));
  }

  // Returns the chunk of a block at this offset in the pool.
  template <class Thread>
  SIMT_FN std::uint32_t chunk_of(Thread& thread, std::size_t offset) const {
    std::uint32_t chunk = stride_units.quotient(static_cast<std::uint32_t>(offset / 64));
    while ((thread.atomic(start_flags[chunk / 32]).load(simt::relaxed) >> chunk % 32 & 1) == 0 && chunk != 0) --chunk;
    return chunk;
  }

  // Takes a chunk. Returns false if there is none.
  template <class Thread>
  SIMT_FN bool take(Thread& thread, std::uint32_t& chunk) const {
    if (take_units_if_any(thread, control->reusable, 1) != 0) {
      const std::uint32_t number = thread.atomic(control->reuse_front).fetch_add(1u, simt::relaxed);
      std::uint32_t& slot = reuse_ring[number & (reuse_capacity - 1)];
      for (std::uint32_t look = 1; (chunk = try_take_from(thread, slot)) == empty_slot; ++look) back_off(thread, look);
    } else {
      const auto fresh = thread.atomic(control->next_fresh);
      chunk = fresh.fetch_add(1u, simt::relaxed);
      if (chunk >= chunk_count) {
        fresh.fetch_sub(1u, simt::relaxed);
        return false;
      }
    }
    thread.atomic(start_flags[chunk / 32]).fetch_or(1u << chunk % 32, simt::relaxed);
    return true;
  }

  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint32_t chunk) const {
    if (thread.atomic(control->reusable).fetch_add(1u, simt::relaxed) >= reuse_capacity) {
      thread.atomic(control->reusable).fetch_sub(1u, simt::relaxed);
      return;
    }
    const std::uint32_t number = thread.atomic(control->reuse_back).fetch_add(1u, simt::relaxed);
    put_into(thread, reuse_ring[number & (reuse_capacity - 1)], chunk);
  }

  // Takes a chunk that commit() has reserved. May wait until other threads have emptied queue chunks. In C-VL this wait
  // may last forever (docs/findings.md).
  template <class Thread>
  SIMT_FN std::uint32_t take_for_queue(Thread& thread) const {
    std::uint32_t chunk = no_chunk;
    for (std::uint32_t look = 1; !take(thread, chunk); ++look) back_off(thread, look);
    return chunk;
  }

  // Reserves one chunk of pages, and the queue chunks that its `indices` indices may need. `owned` counts the indices
  // of the queue; this function adds to it. Returns false and changes nothing if the pool has too few chunks.
  template <class Thread>
  SIMT_FN bool commit(Thread& thread, std::uint32_t& owned, std::uint32_t indices) const {
    const std::uint32_t before = thread.atomic(owned).fetch_add(indices, simt::relaxed);
    const std::uint32_t wanted = 1 + segments(before + indices) - segments(before);
    if (thread.atomic(control->committed).fetch_add(wanted, simt::relaxed) + wanted <= chunk_count) return true;
    thread.atomic(control->committed).fetch_sub(wanted, simt::relaxed);
    // Other threads may have added indices meanwhile and need a queue chunk whose reservation this thread has returned.
    const std::uint32_t now = thread.atomic(owned).fetch_sub(indices, simt::relaxed);
    const std::uint32_t given_up = 1 + segments(now) - segments(now - indices);
    if (given_up != wanted) thread.atomic(control->committed).fetch_add(wanted - given_up, simt::relaxed);
    return false;
  }

 private:
  SIMT_FN std::uint32_t segments(std::uint32_t indices) const {
    const std::uint32_t log = slots_log();
    return (indices >> log) + ((indices & ((1u << log) - 1)) != 0 ? 1 : 0);
  }
};

// Initialises the header of a chunk that becomes queue storage. The slots of the chunk are already empty.
template <class Thread>
SIMT_FN void make_queue_storage(Thread& thread, const HeadedChunks& chunks, std::uint32_t chunk, std::uint32_t id,
                                std::uint32_t first_number) {
  ChunkHeader& header = chunks.header(chunk);
  thread.atomic(header.page_bytes).store(0, simt::relaxed);
  thread.atomic(header.entries).store(0, simt::relaxed);
  thread.atomic(header.next).store(no_chunk, simt::relaxed);
  thread.atomic(header.segment).store(std::uint64_t{id} << 32 | first_number, simt::release);
}

// Adds finished puts or takes to the count of a segment. Returns true to the lane that completes the segment. A put
// adds 0x10001, and a take subtracts 0x10000. So the state "as many puts as slots and nothing left" appears only once.
template <class Thread>
SIMT_FN bool count_entries(Thread& thread, const HeadedChunks& chunks, std::uint32_t chunk, std::uint32_t change) {
  const auto entries = thread.atomic(chunks.header(chunk).entries);
  return entries.fetch_add(change, simt::acq_rel) + change == 1u << chunks.slots_log();
}
inline constexpr std::uint32_t one_put = 0x10001u;
inline constexpr std::uint32_t one_take = 0u - 0x10000u;

}  // namespace allocbench::ouroboros::published
