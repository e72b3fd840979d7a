// The kernels of group_by that call the allocator: one byte of the key splits every list of a pass into up to 256.
//
// Pham et al. 2025, sec. 6.2 and appendix C. Two ways to split lists of more than 32 records:
//   tails  as published: every thread appends its record to the tail of a bucket's list (containers/page_list.hpp), in
//          shared memory where one block splits the list
//   runs   multisplit (Ashkiani et al., TOPC 2017): a block counts the records of a tile by bucket, asks for all pages
//          of all buckets at once, and writes; only whole runs of pages are linked to lists that blocks share
// Short lists are packed into warps, whose lanes find the records of their bucket by match_any, without any table.
#pragma once

#include "allocators/contract/session.hpp"
#include "workloads/group/lists.hpp"

namespace allocbench::group {

// A session that counts what it could not serve.
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
  SIMT_FN void report(Thread& thread, std::uint32_t lost, PageFaults* faults) const {
    if (nulls != 0) thread.atomic(faults->nulls).fetch_add(std::uint64_t{nulls}, simt::relaxed);
    if (lost != 0) thread.atomic(faults->lost).fetch_add(std::uint64_t{lost}, simt::relaxed);
  }
};
template <class Session>
CountingNulls(Session&) -> CountingNulls<Session>;

// The long lists of a pass: the array of the input, or the pages of the directory of the pass before.
struct LongInput {
  const Record* array;  // null: pages
  std::uint32_t records;
  const std::uint64_t* pages;
  const std::uint32_t* tails;
  const std::uint32_t* long_of_tail;
  std::uint32_t items;  // slices of the array, or pages
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

// Long lists by tails: a warp takes a slice of the array or a page.
struct LongTailsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, LongInput in, Tail* tails, PageFormat format,
                          Directory directory, PageFaults* faults) const {
    auto&& attached = attach(allocator, thread);
    CountingNulls session{attached};
    const GlobalList lists(format.bytes);
    std::uint32_t lost = 0;
    const std::uint32_t warps = thread.grid_size() / simt::warp_size;
    for (std::uint32_t item = thread.rank_in_grid() / simt::warp_size; item < in.items; item += warps) {
      std::uint32_t table = 0;
      const Record* records = nullptr;
      std::uint32_t count = 0;
      if (in.array != nullptr) {
        records = in.array + std::size_t{item} * simt::warp_size;
        count = in.records - item * simt::warp_size;
        if (count > simt::warp_size) count = simt::warp_size;
      } else {
        table = in.long_of_tail[in.tails[item]];
        if (table == no_list) continue;
        records = Chain::records(in.pages[item]);
        count = Chain::header(in.pages[item])->records;
      }
      for (std::uint32_t at = 0; at < count; at += simt::warp_size) {
        const bool has = at + thread.lane() < count;
        const Record record = has ? records[at + thread.lane()] : 0;
        const std::uint32_t tail = table * buckets + byte_of(record, in.pass);
        const bool stored = lists.append(thread, session, has, &tails[tail], record, [&](std::uint64_t page) {
          const std::uint32_t place = thread.atomic(*directory.count).fetch_add(1u, simt::relaxed);
          enter_page(thread, directory, place, page, tail, faults);
        });
        if (!stored) ++lost;
      }
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }
};

// Pages of a list that one block splits, in shared memory.
struct TilePages {
  std::uint64_t pages[tile_slices];
  std::uint32_t records[tile_slices];
  std::uint32_t count;
};

// One thread calls it.
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

// The record of this lane in a slice of a tile. False where it has none.
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

// Medium lists by tails in shared memory, a block each.
struct MediumTailsKernel {
  struct Shared {
    SharedList::Tail tails[buckets];
    TilePages tile;
  };

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const List* mediums, std::uint32_t count, std::uint32_t pass,
                          PageFormat format, Lists out, PageFaults* faults) const {
    Shared& shared = *thread.template shared<Shared>(1);
    auto&& attached = attach(allocator, thread);
    CountingNulls session{attached};
    const SharedList lists(format.bytes);
    std::uint32_t lost = 0;
    SharedList::Tail& own = shared.tails[thread.rank_in_block()];
    for (std::uint32_t i = thread.block(); i < count; i += thread.block_count()) {
      lists.clear(thread, own);
      if (thread.rank_in_block() == 0) walk_list(thread, mediums[i], shared.tile, faults);
      thread.block_barrier();
      const std::uint32_t slices = shared.tile.count << format.slice_bits;
      for (std::uint32_t slice = thread.warp_in_block(); slice < slices; slice += block_warps) {
        Record record = 0;
        const bool has = slice_record(thread, shared.tile, format, slice, record);
        const bool stored =
            lists.append(thread, session, has, &shared.tails[byte_of(record, pass)], record, [](std::uint64_t) {});
        if (!stored) ++lost;
      }
      thread.block_barrier();
      const std::uint64_t newest = lists.finish(thread, own);
      emit(thread, thread.warp(), {newest, own.records, own.pages}, out, faults);
      thread.block_barrier();  // the next list overwrites the tile
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }
};

// What RunsKernel splits: medium lists, or tiles of long ones.
struct RunsInput {
  const List* mediums;  // null: tiles
  const Tile* tiles;
  std::uint32_t count;
  LongInput longs;  // pages sorted by list
};

// Medium lists and tiles of long lists by runs, a block each.
struct RunsKernel {
  // In front of the addresses of the pages that a tile's records get.
  struct Shared {
    TilePages tile;
    std::uint32_t counts[buckets];
    std::uint32_t first_page[buckets];
    std::uint32_t warp_pages[block_warps];
    std::uint32_t unused;
  };
  static std::size_t shared_bytes(const PageFormat& format) {
    return sizeof(Shared) + sizeof(std::uint64_t) * (tile_slices * simt::warp_size / format.capacity + buckets + 1);
  }

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, RunsInput in, Tail* tails, std::uint32_t pass, PageFormat format,
                          Lists out, PageFaults* faults) const {
    Shared& shared = *thread.template shared<Shared>(1);
    auto* const pages = reinterpret_cast<std::uint64_t*>(&shared + 1);
    auto&& attached = attach(allocator, thread);
    CountingNulls session{attached};
    std::uint32_t lost = 0;
    const std::uint32_t bucket = thread.rank_in_block();
    for (std::uint32_t i = thread.block(); i < in.count; i += thread.block_count()) {
      std::uint32_t table = 0;
      shared.counts[bucket] = 0;
      if (in.mediums != nullptr) {
        if (bucket == 0) walk_list(thread, in.mediums[i], shared.tile, faults);
      } else {
        table = in.tiles[i].list;
        if (in.longs.array == nullptr) load_pages(thread, in, in.tiles[i], shared.tile);
      }
      thread.block_barrier();

      Record records[slices_per_warp];
      std::uint32_t ranks[slices_per_warp];
      SIMT_UNROLL
      for (std::uint32_t k = 0; k < slices_per_warp; ++k) {
        const std::uint32_t slice = k * block_warps + thread.warp_in_block();
        ranks[k] = no_list;
        const bool has = in.mediums == nullptr && in.longs.array != nullptr
                             ? array_record(thread, in, in.tiles[i].begin + slice, records[k])
                             : slice_record(thread, shared.tile, format, slice, records[k]);
        if (has) {
          ranks[k] = thread.atomic_shared(shared.counts[byte_of(records[k], pass)]).fetch_add(1u, simt::relaxed);
        }
      }
      thread.block_barrier();

      const std::uint32_t wanted = shared.counts[bucket];
      const std::uint32_t wanted_pages = wanted == 0 ? 0 : format.page_of(wanted - 1) + 1;
      const std::uint32_t first = first_of_bucket(thread, shared, wanted_pages);
      shared.first_page[bucket] = first;
      const List run = get_pages(thread, session, format, wanted, wanted_pages, pages + first);
      lost += wanted - run.records;
      if (in.mediums != nullptr) {
        write_oldest(pages + first, run, format, 0);
        emit(thread, thread.warp(), run, out, faults);
      } else {
        link_run(thread, tails, table * buckets + bucket, run, pages + first, format, out.directory, faults);
      }
      thread.block_barrier();

      SIMT_UNROLL
      for (std::uint32_t k = 0; k < slices_per_warp; ++k) {
        if (ranks[k] == no_list) continue;
        const std::uint32_t page = format.page_of(ranks[k]);
        const std::uint64_t address = pages[shared.first_page[byte_of(records[k], pass)] + page];
        if (address != 0) Chain::records(address)[ranks[k] - page * format.capacity] = records[k];
      }
      thread.block_barrier();  // the next tile overwrites all this
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }

 private:
  template <class Thread>
  static SIMT_FN bool array_record(Thread& thread, const RunsInput& in, std::uint32_t slice, Record& record) {
    const std::uint64_t at = std::uint64_t{slice} * simt::warp_size + thread.lane();
    if (at >= in.longs.records) return false;
    record = in.longs.array[at];
    return true;
  }

  template <class Thread>
  static SIMT_FN void load_pages(Thread& thread, const RunsInput& in, const Tile& from, TilePages& tile) {
    const std::uint32_t count = from.end - from.begin;
    const std::uint32_t i = thread.rank_in_block();
    if (i == 0) tile.count = count;
    if (i >= count) return;
    tile.pages[i] = in.longs.pages[from.begin + i];
    tile.records[i] = Chain::header(tile.pages[i])->records;
  }

  // The sum of the pages of all buckets before this thread's.
  template <class Thread>
  static SIMT_FN std::uint32_t first_of_bucket(Thread& thread, Shared& shared, std::uint32_t wanted_pages) {
    const auto warp = thread.warp();
    const std::uint32_t before = warp.exclusive_sum(wanted_pages);
    const std::uint32_t of_warp = warp.reduce_add(wanted_pages);
    if (thread.lane() == 0) shared.warp_pages[thread.warp_in_block()] = of_warp;
    thread.block_barrier();
    std::uint32_t first = before;
    for (std::uint32_t w = 0; w < thread.warp_in_block(); ++w) first += shared.warp_pages[w];
    return first;
  }

  // Asks for the pages of a bucket and writes their headers, but that of the oldest. What it got; the places of pages
  // that it did not get hold 0.
  template <class Thread, class Session>
  static SIMT_FN List get_pages(Thread& thread, Session& session, const PageFormat& format, std::uint32_t wanted,
                                std::uint32_t wanted_pages, std::uint64_t* places) {
    List run{0, 0, 0};
    for (std::uint32_t page = 0; page < wanted_pages; ++page) {
      const bool asks = page == run.pages;  // no null so far
      const std::uint64_t fresh =
          asks ? reinterpret_cast<std::uint64_t>(session.malloc(thread, format.bytes)) : std::uint64_t{0};
      places[page] = fresh;
      if (fresh == 0) continue;
      const std::uint32_t left = wanted - run.records;
      const std::uint32_t records = left < format.capacity ? left : format.capacity;
      if (page != 0) Chain::write_header(fresh, run.newest, records);
      run = {fresh, run.records + records, run.pages + 1};
    }
    return run;
  }

  static SIMT_FN void write_oldest(const std::uint64_t* places, const List& run, const PageFormat& format,
                                   std::uint64_t before) {
    if (run.pages == 0) return;
    Chain::write_header(places[0], before, run.records < format.capacity ? run.records : format.capacity);
  }

  // Puts the run in front of a list that blocks share, and into the directory. Nobody reads the list in this kernel.
  template <class Thread>
  static SIMT_FN void link_run(Thread& thread, Tail* tails, std::uint32_t index, const List& run,
                               const std::uint64_t* places, const PageFormat& format, const Directory& directory,
                               PageFaults* faults) {
    const auto warp = thread.warp();
    const std::uint32_t of_warp = warp.reduce_add(run.pages);
    std::uint32_t place = warp.exclusive_sum(run.pages);
    std::uint32_t first = 0;
    if (thread.lane() == 0 && of_warp != 0) {
      first = thread.atomic(*directory.count).fetch_add(of_warp, simt::relaxed);
    }
    place += warp.shfl_lane(first, 0);
    if (run.pages == 0) return;
    const std::uint64_t before = thread.atomic(tails[index].word).exchange(run.newest, simt::relaxed);
    write_oldest(places, run, format, before);
    thread.atomic(tails[index].pages).fetch_add(run.pages, simt::relaxed);
    thread.atomic(tails[index].records).fetch_add(run.records, simt::relaxed);
    for (std::uint32_t page = 0; page < run.pages; ++page) {
      enter_page(thread, directory, place + page, places[page], index, faults);
    }
  }
};

// Short lists: as many whole ones at a time as have 32 records together, a lane per record.
struct ShortKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const List* shorts, std::uint32_t count, std::uint32_t pass,
                          PageFormat format, Lists out, PageFaults* faults) const {
    auto&& attached = attach(allocator, thread);
    CountingNulls session{attached};
    const auto warp = thread.warp();
    std::uint32_t lost = 0;
    const std::uint32_t threads = thread.grid_size();
    const std::uint32_t rank = thread.rank_in_grid();
    for (std::uint32_t first = rank - thread.lane(); first < count; first += threads) {
      const std::uint32_t index = first + thread.lane();
      const List list = index < count ? shorts[index] : List{0, 0, 0};
      const std::uint32_t begin = warp.exclusive_sum(list.records);
      const std::uint32_t end = begin + list.records;
      const std::uint32_t total = warp.reduce_add(list.records);
      for (std::uint32_t base = 0; base < total;) {
        const bool chosen = list.records != 0 && begin >= base && end <= base + simt::warp_size;
        const std::uint32_t base_end = warp.reduce_max(chosen ? end : 0);
        const simt::LaneMask starts = warp.reduce_add(chosen ? simt::LaneMask{1} << (begin - base) : 0);
        const std::uint32_t before = simt::popcount(warp.ballot(list.records != 0 && end <= base));
        const simt::LaneMask not_above = ~simt::LaneMask{0} >> (31 - thread.lane());
        const std::uint32_t owner = before + simt::popcount(starts & not_above) - 1;
        const std::uint32_t place = base + thread.lane() - warp.shfl_lane(begin, owner);
        const std::uint64_t newest = warp.shfl_lane(list.newest, owner);
        Record record = 0;
        bool has = base + thread.lane() < base_end;
        if (has && !find(newest, place, record)) {
          has = false;
          thread.atomic(faults->broken).fetch_add(std::uint64_t{1}, simt::relaxed);
        }
        const auto readers = warp.partition(has);
        List made{0, 0, 0};
        if (has)
          made = store(thread, readers.match_any(owner << 8 | byte_of(record, pass)), session, record, format, lost);
        emit_class(thread, warp, made.records != 0, made, out.shorts, &out.counts[0], out.most_shorts, faults);
        base = base_end;
      }
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }

 private:
  static SIMT_FN bool find(std::uint64_t page, std::uint32_t place, Record& record) {
    for (std::uint32_t walked = 0; page != 0 && walked < short_records; ++walked) {
      const Chain::Header header = *Chain::header(page);
      if (header.seal != Chain::seal(page, header.before, header.records)) return false;
      if (place < header.records) {
        record = Chain::records(page)[place];
        return true;
      }
      place -= header.records;
      page = header.before;
    }
    return false;
  }

  // The records of the group become a list, which its leader gets; it is empty for the others. The members whose record
  // is the first of a page ask for it.
  template <class Thread, class Group, class Session>
  static SIMT_FN List store(Thread& thread, const Group& group, Session& session, Record record,
                            const PageFormat& format, std::uint32_t& lost) {
    const std::uint32_t rank = group.thread_rank();
    const std::uint32_t records = group.num_threads();
    const std::uint32_t own = format.page_of(rank);
    const std::uint32_t place = rank - own * format.capacity;
    std::uint64_t asked = 0;
    if (place == 0) asked = reinterpret_cast<std::uint64_t>(session.malloc(thread, format.bytes));
    List list{0, 0, 0};
    std::uint64_t page = 0;
    for (std::uint32_t i = 0, first = 0; first < records; ++i, first += format.capacity) {
      const std::uint32_t head = first == 0 ? group.leader_lane() : simt::nth_set_bit(group.mask(), first);
      const std::uint64_t fresh = group.shfl_lane(asked, head);
      if (fresh == 0) continue;
      const std::uint32_t left = records - first;
      const std::uint32_t of_page = left < format.capacity ? left : format.capacity;
      if (own == i) page = fresh;
      if (own == i && place == 0) Chain::write_header(fresh, list.newest, of_page);
      list = {fresh, list.records + of_page, list.pages + 1};
    }
    group.sync();  // the heads have acquired the pages; the others get them from the heads
    if (page != 0) {
      Chain::records(page)[place] = record;
    } else {
      ++lost;
    }
    return rank == 0 ? list : List{0, 0, 0};
  }
};

// Frees the pages of all lists that a pass has split, or of the last ones.
struct FreeListsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Lists lists, std::uint32_t shorts, std::uint32_t mediums,
                          std::uint32_t entries) const {
    auto&& session = attach(allocator, thread);
    const auto free = [&](std::uint64_t page, std::uint32_t) { session.free(thread, reinterpret_cast<void*>(page)); };
    for (std::uint32_t i = thread.rank_in_grid(); i < shorts; i += thread.grid_size()) {
      Chain::for_each_page(lists.shorts[i].newest, lists.shorts[i].records, free);
    }
    for (std::uint32_t i = thread.rank_in_grid(); i < mediums; i += thread.grid_size()) {
      Chain::for_each_page(lists.mediums[i].newest, lists.mediums[i].records, free);
    }
    for (std::uint32_t i = thread.rank_in_grid(); i < entries; i += thread.grid_size()) {
      if (lists.long_of_tail[lists.directory.tails[i]] != no_list) free(lists.directory.pages[i], 0);
    }
    detach(session, thread);
  }
};

}  // namespace allocbench::group
