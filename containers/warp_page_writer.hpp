// WarpPageWriter: one chain of pages per warp, to which its lanes append together.
//
// Not in Pham et al. 2025, whose threads have a page each (page_writer.hpp): this is what an application can do by
// itself to need fewer pages. The lanes that have a record get places by their rank among them, and the first lane
// beyond the end of the page requests the next one. Place and page are equal in all lanes, so nothing is shared and
// there is no protocol. Pages are those of page_chain.hpp.
//
// After a null the writer makes no more requests, so that a warp ends in bounded time.
#pragma once

#include "containers/page_chain.hpp"

namespace allocbench {

template <class T>
class WarpPageWriter {
 public:
  using Chain = PageChain<T>;

  SIMT_FN explicit WarpPageWriter(std::size_t page_bytes)
      : page_bytes_(page_bytes), capacity_(Chain::capacity(page_bytes)), used_(capacity_) {}

  // Appends a record for each lane that `wants`. All lanes of the warp that have not exited call it together. False for
  // a lane whose record has no page.
  template <class Thread, class Session>
  SIMT_FN bool append(Thread& thread, Session& session, bool wants, const T& record) {
    const auto warp = thread.warp();
    simt::LaneMask waiting = warp.ballot(wants);
    const simt::LaneMask below = (simt::LaneMask{1} << thread.lane()) - 1;
    bool pending = wants;
    while (waiting != 0) {
      if (used_ == capacity_ && !next_page(thread, warp, session, waiting)) return !pending;
      const std::uint32_t rank = simt::popcount(waiting & below);
      const std::uint32_t left = capacity_ - used_;
      if (pending && rank < left) {
        Chain::records(page_)[used_ + rank] = record;
        pending = false;
      }
      const std::uint32_t count = simt::popcount(waiting);
      used_ += count < left ? count : left;
      waiting = warp.ballot(pending);
    }
    return true;
  }

  // Must follow the last append; all lanes together.
  template <class Thread>
  SIMT_FN void close(Thread& thread) {
    if (page_ != 0 && thread.warp().leader()) Chain::write_header(page_, before_, used_);
  }

  SIMT_FN std::uint64_t newest_page() const { return page_; }
  SIMT_FN std::uint32_t records() const { return pages_ == 0 ? 0 : (pages_ - 1) * capacity_ + used_; }
  SIMT_FN bool out_of_memory() const { return out_of_memory_; }

 private:
  template <class Thread, class Warp, class Session>
  SIMT_FN bool next_page(Thread& thread, const Warp& warp, Session& session, simt::LaneMask waiting) {
    if (out_of_memory_) return false;
    const std::uint32_t asking = simt::count_trailing_zeros(waiting);
    std::uint64_t fresh = 0;
    if (thread.lane() == asking) fresh = reinterpret_cast<std::uint64_t>(session.malloc(thread, page_bytes_));
    fresh = warp.shfl_lane(fresh, asking);
    warp.sync();  // the lane that asked has acquired the page; the others get it from that lane
    if (fresh == 0) {
      out_of_memory_ = true;
      return false;
    }
    close(thread);
    before_ = page_;
    page_ = fresh;
    used_ = 0;
    ++pages_;
    return true;
  }

  std::size_t page_bytes_;
  std::uint32_t capacity_;
  std::uint32_t used_;  // of the current page; full where there is none
  std::uint32_t pages_ = 0;
  std::uint64_t page_ = 0;
  std::uint64_t before_ = 0;
  bool out_of_memory_ = false;
};

}  // namespace allocbench
