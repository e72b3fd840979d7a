// This file has the common part of all kernels of group_by that split lists: the source of the records and the count of
// failures.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "workloads/group_by/lists.hpp"

namespace allocbench::group {

// A session that counts the requests that returned null.
template <class Session>
struct CountingNulls {
  Session& session;
  std::uint32_t nulls = 0;

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    void* const block = session.malloc(thread, bytes);
    if (block == nullptr) ++nulls;
    return block;
  }
  template <class Thread>
  SIMT_FN void free_page(Thread& thread, std::uint64_t page) {
    session.free(thread, reinterpret_cast<void*>(page));
  }
  template <class Thread>
  SIMT_FN void report(Thread& thread, std::uint32_t lost, PageFaults* faults) const {
    if (nulls != 0) thread.atomic(faults->nulls).fetch_add(std::uint64_t{nulls}, simt::relaxed);
    if (lost != 0) thread.atomic(faults->lost).fetch_add(std::uint64_t{lost}, simt::relaxed);
  }
};
template <class Session>
CountingNulls(Session&) -> CountingNulls<Session>;

// The long lists of a pass: the input array, or the pages in the directory of the previous pass.
struct LongInput {
  const Record* array;  // array of all records; null: the input is pages
  std::uint32_t records;
  const std::uint64_t* pages;
  const std::uint32_t* tails;
  const std::uint32_t* long_of_tail;
  std::uint32_t items;  // number of slices of the array, or of pages
  std::uint32_t pass;
};

template <class Thread>
SIMT_FN void enter_page(Thread& thread, const Directory& directory, std::uint32_t place, std::uint64_t page,
                        std::uint32_t tail, PageFaults* faults) {
  if (place < directory.capacity) {
    directory.pages[place] = page;
    directory.tails[place] = tail;
  } else {
    thread.atomic(faults->overflows).fetch_add(std::uint64_t{1}, simt::relaxed);
  }
}

// The pages of a list that one block splits, in shared memory.
struct TilePages {
  std::uint64_t pages[tile_slices];
  std::uint32_t records[tile_slices];
  std::uint32_t count;
};

// Enters the pages of a list into the tile. One thread calls this function.
template <class Thread>
SIMT_FN void walk_list(Thread& thread, const List& list, TilePages& tile, PageFaults* faults) {
  tile.count = 0;
  const bool whole = Chain::for_each_page(list.newest, list.records, [&](std::uint64_t page, std::uint32_t records) {
    if (tile.count == tile_slices) return;
    tile.pages[tile.count] = page;
    tile.records[tile.count] = records;
    ++tile.count;
  });
  if (!whole) thread.atomic(faults->broken).fetch_add(std::uint64_t{1}, simt::relaxed);
}

// Frees the tile's pages. All threads of the block call this function together, after all have read the pages.
template <class Thread, class Session>
SIMT_FN void free_tile(Thread& thread, Session& session, const TilePages& tile) {
  static_assert(tile_slices <= block_threads);
  const std::uint32_t i = thread.rank_in_block();
  if (i < tile.count) session.free_page(thread, tile.pages[i]);
}

// Reads the record of this lane in a slice of a tile. Returns false if the lane has none.
template <class Thread>
SIMT_FN bool slice_record(Thread& thread, const TilePages& tile, const PageFormat& format, std::uint32_t slice,
                          Record& record) {
  const std::uint32_t page = slice >> format.slice_bits;
  if (page >= tile.count) return false;
  const std::uint32_t at = (slice & ((1u << format.slice_bits) - 1)) * simt::warp_size + thread.lane();
  if (at >= tile.records[page]) return false;
  record = Chain::records(tile.pages[page])[at];
  return true;
}

}  // namespace allocbench::group
