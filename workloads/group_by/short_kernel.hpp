// This kernel splits short lists without tables. A warp splits several lists; the lanes find the records of their
// bucket by match_any.
#pragma once

#include "workloads/group_by/split_input.hpp"

namespace allocbench::group {

// A warp takes as many whole short lists as it has lanes for their records. Each lane takes at most one record.
struct ShortKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const List* shorts, std::uint32_t count, std::uint32_t pass,
                          PageFormat format, bool early, Lists out, PageFaults* faults) const {
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
        if (early) {
          warp.sync();  // all lanes have read their record
          if (chosen) {
            Chain::for_each_page(list.newest, list.records,
                                 [&](std::uint64_t page, std::uint32_t) { session.free_page(thread, page); });
          }
        }
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

  // Makes a list of the group's records. The leader gets the list, and the other lanes get an empty one. A lane whose
  // record is the first of a page requests the page.
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
    group.sync();  // the lanes that requested pages have acquired them; the others get the addresses from these lanes
    if (page != 0) {
      Chain::records(page)[place] = record;
    } else {
      ++lost;
    }
    return rank == 0 ? list : List{0, 0, 0};
  }
};

}  // namespace allocbench::group
