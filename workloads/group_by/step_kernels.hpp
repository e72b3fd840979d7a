// This file has the kernels of group_by that run between those that call the allocator.
#pragma once

#include "workloads/group_by/keys.hpp"
#include "workloads/group_by/lists.hpp"

namespace allocbench::group {

struct ClearTailsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, TailTables tables, std::uint32_t count, PageFormat format, bool runs) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    if (!runs) return GlobalList(format.bytes).clear(thread, tables.at(i));
    tables.at(i) = {0, 0, 0};
  }
};

// Puts the lists of the tables into their classes. Many blocks have appended to these lists. Whole warps run the
// kernel.
struct CollectKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, TailTables tables, PageFormat format, bool runs, Lists out,
                          PageFaults* faults) const {
    Tail& tail = tables.at(thread.rank_in_grid());
    const std::uint64_t newest = runs ? tail.word : GlobalList(format.bytes).finish(thread, tail);
    const List list{newest, tail.records, tail.pages};
    const bool is_long = list.records > short_records && !format.fits_tile(list.pages);
    emit(thread, thread.warp(), is_long ? List{0, 0, 0} : list, out, faults);
    std::uint32_t place = no_list;
    if (is_long) {
      place = thread.atomic(out.counts[2]).fetch_add(1u, simt::relaxed);
      if (place < out.most_longs) {
        out.longs[place] = list;
      } else {
        thread.atomic(faults->overflows).fetch_add(std::uint64_t{1}, simt::relaxed);
        place = no_list;
      }
    }
    out.long_of_tail[thread.rank_in_grid()] = place;
  }
};

struct ArrayTilesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Tile* tiles, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i < count) tiles[i] = {0, i * tile_slices, (i + 1) * tile_slices};
  }
};

struct KeysOfEntriesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* tails, const std::uint32_t* long_of_tail,
                          std::uint32_t* keys, std::uint32_t* order, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    keys[i] = long_of_tail[tails[i]];
    order[i] = i;
  }
};

struct ListBordersKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* keys, const std::uint32_t* order,
                          const std::uint64_t* pages, std::uint32_t count, std::uint64_t* sorted_pages,
                          std::uint32_t* begin, std::uint32_t* end) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    sorted_pages[i] = pages[order[i]];
    if (keys[i] == no_list) return;
    if (i == 0 || keys[i - 1] != keys[i]) begin[keys[i]] = i;
    if (i + 1 == count || keys[i + 1] != keys[i]) end[keys[i]] = i + 1;
  }
};

// Tile q of list l is stored at place begin[l] / pages_of_tile + l + q, which no other tile has. Unused places stay
// empty.
struct PageTilesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* begin, const std::uint32_t* end, std::uint32_t lists,
                          std::uint32_t pages_of_tile, Tile* tiles) const {
    const std::uint32_t list = thread.rank_in_grid() / simt::warp_size;
    if (list >= lists) return;
    Tile* const own = tiles + begin[list] / pages_of_tile + list;
    const std::uint32_t count = (end[list] - begin[list] + pages_of_tile - 1) / pages_of_tile;
    for (std::uint32_t q = thread.lane(); q < count; q += simt::warp_size) {
      const std::uint32_t from = begin[list] + q * pages_of_tile;
      own[q] = {list, from, end[list] - from < pages_of_tile ? end[list] : from + pages_of_tile};
    }
  }
};

// The output of ReadListsKernel.
struct ListReader {
  std::uint64_t* pages;
  std::uint32_t* page_count;
  std::uint32_t most_pages;
  MultisetDigest* digest;
  std::uint64_t* records;  // all records, if there is room for them
  std::uint32_t* lists;
  std::uint32_t* record_count;
  std::uint32_t most_records;
};

// Reads lists of one class. `number` is the number of the first list.
struct ReadListsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const List* lists, std::uint32_t count, std::uint32_t number,
                          ListReader reader, PageFaults* faults) const {
    MultisetDigest groups;
    for (std::uint32_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      MultisetDigest rows;
      std::uint32_t key = 0;
      bool one_key = true;
      const bool whole =
          Chain::for_each_page(lists[i].newest, lists[i].records, [&](std::uint64_t page, std::uint32_t records) {
            const std::uint32_t place = thread.atomic(*reader.page_count).fetch_add(1u, simt::relaxed);
            if (place < reader.most_pages) reader.pages[place] = page;
            for (std::uint32_t r = 0; r < records; ++r) {
              const Record record = Chain::records(page)[r];
              const auto own_key = static_cast<std::uint32_t>(record >> 32);
              one_key = one_key && (rows.count == 0 || own_key == key);
              key = own_key;
              rows.add(record & 0xffffffffu);
              if (reader.most_records != 0) keep(thread, reader, record, number + i);
            }
          });
      if (!whole || !one_key) thread.atomic(faults->broken).fetch_add(std::uint64_t{1}, simt::relaxed);
      groups.add(group_element(key, rows));
    }
    groups.add_to(thread, *reader.digest);
  }

 private:
  template <class Thread>
  static SIMT_FN void keep(Thread& thread, const ListReader& reader, Record record, std::uint32_t list) {
    const std::uint32_t place = thread.atomic(*reader.record_count).fetch_add(1u, simt::relaxed);
    if (place >= reader.most_records) return;
    reader.records[place] = record;
    reader.lists[place] = list;
  }
};

}  // namespace allocbench::group
