// These kernels split by tails, as published (Pham et al. 2025, appendix C). Every thread appends its record to the
// tail of its bucket's list (containers/page_list.hpp). If one block splits the whole list, the tails are in shared
// memory.
#pragma once

#include "workloads/group_by/split_input.hpp"

namespace allocbench::group {

// Splits long lists by tails. A warp takes a slice of the array or a page. With `early` a warp or block frees a page
// when it has read the page; otherwise FreeListsKernel frees it. This holds for both kernels of this file.
struct LongTailsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, LongInput in, TailTables tables, PageFormat format, bool early,
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
        const bool stored = lists.append(thread, session, has, &tables.at(tail), record, [&](std::uint64_t page) {
          const std::uint32_t place = thread.atomic(*directory.count).fetch_add(1u, simt::relaxed);
          enter_page(thread, directory, place, page, tail, faults);
        });
        if (!stored) ++lost;
      }
      if (early && in.array == nullptr) {
        thread.warp().sync();  // all lanes have read their record
        if (thread.lane() == 0) session.free_page(thread, in.pages[item]);
      }
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }
};

// Splits medium lists by tails in shared memory, one list per block.
struct MediumTailsKernel {
  struct Shared {
    SharedList::Tail tails[buckets];
    TilePages tile;
  };

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const List* mediums, std::uint32_t count, std::uint32_t pass,
                          PageFormat format, bool early, Lists out, PageFaults* faults) const {
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
      if (early) free_tile(thread, session, shared.tile);
      const std::uint64_t newest = lists.finish(thread, own);
      emit(thread, thread.warp(), {newest, own.records, own.pages}, out, faults);
      thread.block_barrier();  // the next list overwrites the tile
    }
    session.report(thread, lost, faults);
    detach(attached, thread);
  }
};

}  // namespace allocbench::group
