// This kernel splits lists by runs, similar to multisplit (Ashkiani et al., TOPC 2017). A block counts the records of a
// tile by bucket, requests all pages of all buckets at once, and writes the records. The block links only whole runs of
// pages to lists that blocks share.
#pragma once

#include "workloads/group_by/split_input.hpp"

namespace allocbench::group {

// The input of RunsKernel consists of medium lists or of tiles of long lists.
struct RunsInput {
  const List* mediums;  // medium lists; null: the input is tiles
  const Tile* tiles;
  std::uint32_t count;
  LongInput longs;  // long lists, whose pages are sorted by list
};

// Splits medium lists or tiles of long lists by runs. Each block splits one at a time.
struct RunsKernel {
  // The shared memory of a block. The addresses of the pages for a tile's records lie behind it.
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
  SIMT_FN void operator()(Thread& thread, A allocator, RunsInput in, TailTables tables, std::uint32_t pass,
                          PageFormat format, bool early, Lists out, PageFaults* faults) const {
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
      SIMT_UNROLLED
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

      if (early && (in.mediums != nullptr || in.longs.array == nullptr)) free_tile(thread, session, shared.tile);
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
        link_run(thread, tables, table * buckets + bucket, run, pages + first, format, out.directory, faults);
      }
      thread.block_barrier();

      SIMT_UNROLLED
      for (std::uint32_t k = 0; k < slices_per_warp; ++k) {
        if (ranks[k] != no_list) write_record(shared, pages, records[k], ranks[k], pass, format);
      }
      thread.block_barrier();  // the next tile overwrites the shared memory
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }

 private:
  // Writes a record to its place in the pages of its bucket, if there is a page for it.
  static SIMT_FN void write_record(const Shared& shared, const std::uint64_t* pages, const Record& record,
                                   std::uint32_t rank, std::uint32_t pass, const PageFormat& format) {
    const std::uint32_t page = format.page_of(rank);
    const std::uint64_t address = pages[shared.first_page[byte_of(record, pass)] + page];
    if (address != 0) Chain::records(address)[rank - page * format.capacity] = record;
  }

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

  // Returns how many pages the buckets before this thread's bucket want.
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

  // Requests the pages of a bucket and writes the headers of all but the oldest. Returns the list of the pages. Missing
  // pages have the address 0.
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

  // Links the run to the front of a list that blocks share, and enters its pages into the directory. No thread reads
  // the list in this kernel.
  template <class Thread>
  static SIMT_FN void link_run(Thread& thread, const TailTables& tables, std::uint32_t index, const List& run,
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
    Tail& tail = tables.at(index);
    const std::uint64_t before = thread.atomic(tail.word).exchange(run.newest, simt::relaxed);
    write_oldest(places, run, format, before);
    thread.atomic(tail.pages).fetch_add(run.pages, simt::relaxed);
    thread.atomic(tail.records).fetch_add(run.records, simt::relaxed);
    for (std::uint32_t page = 0; page < run.pages; ++page) {
      enter_page(thread, directory, place + page, places[page], index, faults);
    }
  }
};

}  // namespace allocbench::group
