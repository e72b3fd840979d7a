// TraceLedger is the memory in which an adaptor (traced.hpp, counted.hpp) records each call of malloc and free.
//
// Records are in chunks. A buffer takes one chunk after the other, and a warp writes into the buffer with the warp's
// number (modulo the number of buffers). So warps seldom update the head of the same buffer, and only new chunks need
// the common counter. A buffer never returns to an older chunk, so the records of a thread have increasing numbers.
#pragma once

#include "simt/simt.hpp"
#if SIMT_CUDA
#include "simt/cuda/global_timer.hpp"
#else
#include <chrono>
#endif

namespace allocbench {

struct TraceRecord {
  // Bytes of a malloc; for a free, the number of its malloc's record plus one, or 0 if there is no record.
  std::uint64_t value;
  std::uint64_t clock;   // time of the call in nanoseconds
  std::uint32_t thread;  // rank of the thread in the grid; `unused` in unwritten records
  std::uint32_t call;

  static constexpr std::uint32_t unused = 0xffffffff;
  // The lower 8 bits of `call` are one of these values. The higher bits of a malloc are TraceLedger::log_alignment.
  static constexpr std::uint32_t malloc = 0;
  static constexpr std::uint32_t free = 1;
  static constexpr std::uint32_t refused_malloc = 2;  // a malloc that returned null
};
static_assert(sizeof(TraceRecord) == 24);

// The host owns this object and passes it to kernels by value.
struct TraceLedger {
  static constexpr std::uint32_t chunk_records = 64;  // records of a chunk; a warp's calls fit into one chunk
  static constexpr std::uint32_t words_apart = 4;     // distance of the heads in words; each buffer has its own sectors

  TraceRecord* records = nullptr;
  // Each buffer has one head: the number of its chunk plus one in the upper half, and the number of used records of
  // this chunk in the lower half.
  std::uint64_t* heads = nullptr;
  std::uint32_t* next_chunk = nullptr;
  std::uint64_t* lost = nullptr;    // calls that found no chunk
  std::uint32_t* owners = nullptr;  // record of the malloc of each granule's block, plus one
  std::uint32_t log_granule = 0;    // log2 of the bytes of a granule, the smallest distance of two blocks
  std::uint64_t pool_begin = 0;
  std::uint64_t pool_end = 0;
  std::uint32_t chunks = 0;
  std::uint32_t buffers = 0;
  std::uint32_t first = 0;          // number of the first record
  std::uint32_t log_alignment = 0;  // log2 of the requested alignment; 0 for the allocator's own alignment
  bool has_clocks = false;

  template <class Thread>
  SIMT_FN void add_malloc(Thread& thread, std::uint64_t bytes, const void* block) const {
    const std::uint32_t number =
        add(thread, (block == nullptr ? TraceRecord::refused_malloc : TraceRecord::malloc) | log_alignment << 8, bytes);
    if (has_owner(block)) owner_of(thread, block).store(number, simt::relaxed);
  }
  // Records a free. Call it before the block is freed, while the caller still owns the block.
  template <class Thread>
  SIMT_FN void add_free(Thread& thread, const void* block) const {
    add(thread, TraceRecord::free, has_owner(block) ? owner_of(thread, block).load(simt::relaxed) : 0);
  }

 private:
  SIMT_FN bool has_owner(const void* block) const {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    return address >= pool_begin && address < pool_end;
  }
  template <class Thread>
  SIMT_FN auto owner_of(Thread& thread, const void* block) const {
    return thread.atomic(owners[(reinterpret_cast<std::uint64_t>(block) - pool_begin) >> log_granule]);
  }

  // Places has the positions of the records of a warp's calls: the first `old_count` calls begin at record `old`, and
  // the remaining calls at record `fresh`. If `fresh` is no_place, the remaining calls are lost.
  struct Places {
    std::uint32_t old = 0;
    std::uint32_t old_count = 0;
    std::uint32_t fresh = no_place;
  };
  static constexpr std::uint32_t no_place = 0xffffffff;

  // Adds a record and returns its number plus one, or 0 if the record was lost.
  template <class Thread>
  SIMT_FN std::uint32_t add(Thread& thread, std::uint32_t call, std::uint64_t value) const {
    const auto group = thread.converged();
    Places places;
    if (group.leader()) places = places_for(thread, group.num_threads());
    places.old = group.broadcast(places.old);
    places.old_count = group.broadcast(places.old_count);
    places.fresh = group.broadcast(places.fresh);
    const std::uint32_t rank = group.thread_rank();
    std::uint32_t place = places.old + rank;
    if (rank >= places.old_count) {
      if (places.fresh == no_place) return 0;
      place = places.fresh + rank - places.old_count;
    }
    records[place] = {value, has_clocks ? now() : 0, thread.rank_in_grid(), call};
    return first + place + 1;
  }

  template <class Thread>
  SIMT_FN Places places_for(Thread& thread, std::uint32_t count) const {
    auto head = thread.atomic(heads[thread.rank_in_grid() / simt::warp_size % buffers * words_apart]);
    const std::uint64_t seen = head.fetch_add(std::uint64_t{count}, simt::relaxed);
    const auto chunk = static_cast<std::uint32_t>(seen >> 32);
    const auto used = static_cast<std::uint32_t>(seen);
    Places places;
    if (chunk != 0 && used < chunk_records) {
      places.old = (chunk - 1) * chunk_records + used;
      places.old_count = chunk_records - used < count ? chunk_records - used : count;
    }
    const std::uint32_t rest = count - places.old_count;
    if (rest == 0) return places;
    std::uint32_t fresh = chunks;
    if (thread.atomic(*next_chunk).load(simt::relaxed) < chunks) {
      fresh = thread.atomic(*next_chunk).fetch_add(1u, simt::relaxed);
    }
    if (fresh >= chunks) {
      thread.atomic(*lost).fetch_add(std::uint64_t{rest}, simt::relaxed);
      return places;
    }
    // Another warp may have installed a newer chunk meanwhile. That chunk stays.
    head.fetch_max((std::uint64_t{fresh} + 1) << 32 | rest, simt::relaxed);
    places.fresh = fresh * chunk_records;
    return places;
  }

  static SIMT_FN std::uint64_t now() {
#if SIMT_CUDA
    return simt::global_nanoseconds();
#else
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
#endif
  }
};

}  // namespace allocbench
