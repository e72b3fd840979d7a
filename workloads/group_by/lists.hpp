// These types describe the data in device memory that a pass of group_by leaves for the next pass.
//
// A pass splits every list of the previous pass by one byte of the key. There are three classes of lists, which kernels
// split differently:
// * A warp splits several short lists (up to 32 records).
// * One block splits a medium list.
// * Many blocks split a long list.
#pragma once

#include "containers/page_chain.hpp"
#include "containers/page_list.hpp"
#include "workloads/support/kernels/page_faults.hpp"

namespace allocbench::group {

using Record = std::uint64_t;  // key in the upper half, row in the lower
using Chain = PageChain<Record>;
using SharedList = PageList<Record, simt::Space::shared>;
using GlobalList = PageList<Record, simt::Space::global>;
using Tail = GlobalList::Tail;

inline constexpr std::uint32_t buckets = 256;
inline constexpr std::uint32_t block_threads = 256;
inline constexpr std::uint32_t block_warps = block_threads / simt::warp_size;
inline constexpr std::uint32_t short_records = simt::warp_size;
// A slice is the part of a page that a warp reads at once, up to 32 records. A tile is the part of a long list that one
// block splits, up to `tile_slices` slices. Medium lists have at most as many slices.
inline constexpr std::uint32_t slices_per_warp = 16;
inline constexpr std::uint32_t tile_slices = block_warps * slices_per_warp;
inline constexpr std::uint32_t no_list = 0xffffffffu;

struct List {
  std::uint64_t newest;  // address of the newest page
  std::uint32_t records;
  std::uint32_t pages;
};

// The pages of all lists that many blocks made, and the tail number of each page: table * buckets + bucket.
struct Directory {
  std::uint64_t* pages;
  std::uint32_t* tails;
  std::uint32_t* count;
  std::uint32_t capacity;
};

// The lists that a pass makes.
struct Lists {
  List* shorts;
  List* mediums;
  List* longs;
  std::uint32_t* counts;  // numbers of lists in the three classes, and of directory entries
  std::uint32_t most_shorts, most_mediums, most_longs;
  std::uint32_t* long_of_tail;  // the long list that each tail became, or no_list
  Directory directory;
};

// The tables of long lists, with a tail per bucket. They are in one array, or each is a block of the allocator under
// test.
struct TailTables {
  Tail* array;
  void* const* blocks;  // blocks of the tables; null: the tables are in `array`

  SIMT_FN Tail& at(std::uint32_t tail) const {
    return blocks == nullptr ? array[tail] : static_cast<Tail*>(blocks[tail / buckets])[tail % buckets];
  }
};
inline constexpr std::uint32_t table_tail_bytes = buckets * sizeof(Tail);

// A part of a long list: pages `begin` to `end` - 1 of the sorted directory, or the same range of the input's slices.
struct Tile {
  std::uint32_t list;
  std::uint32_t begin;
  std::uint32_t end;
};

// The format of pages of one size. It finds places in pages without a division.
struct PageFormat {
  std::uint64_t bytes = 0;
  std::uint32_t capacity = 1;
  std::uint32_t reciprocal = 0;
  std::uint32_t slice_bits = 0;  // log2 of the slices per page

  PageFormat() = default;
  explicit PageFormat(std::uint64_t page_bytes)
      : bytes(page_bytes),
        capacity(Chain::capacity(page_bytes)),
        reciprocal(static_cast<std::uint32_t>(((std::uint64_t{1} << 32) - 1) / capacity)) {
    while (short_records << slice_bits < capacity) ++slice_bits;
  }
  std::uint32_t slices(std::uint32_t pages) const { return pages << slice_bits; }
  SIMT_FN bool fits_tile(std::uint32_t pages) const { return pages << slice_bits <= tile_slices; }
  // Returns `place` / capacity. The estimate is exact or one too small.
  SIMT_FN std::uint32_t page_of(std::uint32_t place) const {
    const std::uint32_t estimate = simt::multiply_high(place, reciprocal);
    return place - estimate * capacity >= capacity ? estimate + 1 : estimate;
  }
};

// Returns one byte of a key. Pass 0 gives the most significant byte.
SIMT_FN std::uint32_t byte_of(Record record, std::uint32_t pass) {
  return static_cast<std::uint32_t>(record >> (56 - 8 * pass)) & 0xff;
}

// Stores a list for each lane with `has`, all of one class. All lanes of the group call this function together.
template <class Thread, class Group>
SIMT_FN void emit_class(Thread& thread, const Group& group, bool has, const List& list, List* lists,
                        std::uint32_t* count, std::uint32_t most, PageFaults* faults) {
  const simt::LaneMask members = group.ballot(has);
  if (members == 0) return;
  const std::uint32_t leader = simt::count_trailing_zeros(members);
  std::uint32_t first = 0;
  if (thread.lane() == leader) first = thread.atomic(*count).fetch_add(simt::popcount(members), simt::relaxed);
  first = group.shfl_lane(first, leader);
  if (!has) return;
  const std::uint32_t place = first + simt::popcount(members & ((simt::LaneMask{1} << thread.lane()) - 1));
  if (place < most) {
    lists[place] = list;
  } else {
    thread.atomic(faults->overflows).fetch_add(std::uint64_t{1}, simt::relaxed);
  }
}

// Stores the list of each lane as short or medium. Lists without records are left out.
template <class Thread, class Group>
SIMT_FN void emit(Thread& thread, const Group& group, const List& list, const Lists& out, PageFaults* faults) {
  const bool is_short = list.records != 0 && list.records <= short_records;
  const bool is_medium = list.records > short_records;
  emit_class(thread, group, is_short, list, out.shorts, &out.counts[0], out.most_shorts, faults);
  emit_class(thread, group, is_medium, list, out.mediums, &out.counts[1], out.most_mediums, faults);
}

}  // namespace allocbench::group
