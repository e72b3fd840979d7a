// SmallRequests sums the small requests of a warp, so that one request can serve them (Pham et al. 2025, section 4.3).
//
// A request of less than a page is small. If several lanes make such requests, the lowest of them, the sharer, requests
// the sum, and each of these lanes gets a part. Parts are rounded up to a multiple of 16 bytes.
#pragma once

#include "allocators/support/common/request.hpp"
#include "simt/simt.hpp"

namespace allocbench::random_walk {

struct SmallRequests {
  bool mine;             // true if the calling lane's request is small
  simt::LaneMask lanes;  // mask of the lanes with a small request
  std::uint32_t sharer;  // lane that makes the request for all; undefined if there is none
  std::uint32_t before;  // bytes of the common run that belong to lower lanes
  std::uint32_t total;   // bytes of all small requests; valid only in the sharer

  SIMT_FN std::uint32_t count() const { return simt::popcount(lanes); }

  // Sums the small requests of the group. All members must call this function.
  template <class Thread, class Group>
  static SIMT_FN SmallRequests of(Thread& thread, const Group& group, std::size_t bytes, std::size_t page_bytes) {
    SmallRequests all{};
    all.mine = bytes < page_bytes;
    const std::uint32_t part = all.mine ? units_of(static_cast<std::uint32_t>(bytes), 4) * 16 : 0;
    all.lanes = group.ballot(all.mine);
    all.sharer = simt::count_trailing_zeros(all.lanes);
    if (all.count() < 2) {
      all.total = part;
      return all;
    }
    const std::uint32_t part_of_sharer = group.shfl_lane(part, all.sharer);
    if (group.all(!all.mine || part == part_of_sharer)) {
      all.before = simt::popcount(all.lanes & ((simt::LaneMask{1} << thread.lane()) - 1)) * part;
      all.total = all.count() * part_of_sharer;
    } else {
      all.before = group.exclusive_sum(part);
      all.total = group.reduce_add(part);
    }
    return all;
  }
};

}  // namespace allocbench::random_walk
