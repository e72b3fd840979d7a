// WarpPageWriter is one chain of pages per warp. The lanes of the warp append to this chain together.
//
// In Pham et al. 2025 each thread has its own page (page_writer.hpp). This class shows how an application can use fewer
// pages. The lanes that have a record get places by their rank among these lanes. If the page is full, the first lane
// that still needs a place requests the next page. Each lane has its own copy of the page and the place, so lanes share
// no memory and there is no protocol (open_page.hpp).
#pragma once

#include "containers/open_page.hpp"

namespace allocbench {

template <class T>
class WarpPageWriter : public OpenPage<T> {
 public:
  using typename OpenPage<T>::Chain;
  using OpenPage<T>::OpenPage;

  // Appends the record of each lane whose `wants` is true. Every lane of the warp that has not exited must take part in
  // the call. Returns false for a lane whose record has no page.
  template <class Thread, class Session>
  SIMT_FN bool append(Thread& thread, Session& session, bool wants, const T& record) {
    const auto warp = thread.warp();
    simt::LaneMask waiting = warp.ballot(wants);
    const simt::LaneMask below = (simt::LaneMask{1} << thread.lane()) - 1;
    bool pending = wants;
    while (waiting != 0) {
      if (this->full() && !next_page(thread, warp, session, waiting)) return !pending;
      const std::uint32_t rank = simt::popcount(waiting & below);
      const std::uint32_t left = this->capacity_ - this->used_;
      if (pending && rank < left) {
        Chain::records(this->page_)[this->used_ + rank] = record;
        pending = false;
      }
      const std::uint32_t count = simt::popcount(waiting);
      this->used_ += count < left ? count : left;
      waiting = warp.ballot(pending);
    }
    return true;
  }

  // Ends the chain. Every lane of the warp that has not exited must take part in the call, after the last append.
  template <class Thread>
  SIMT_FN void close(Thread& thread) {
    if (this->page_ != 0 && thread.warp().leader()) this->write_header();
  }

 private:
  template <class Thread, class Warp, class Session>
  SIMT_FN bool next_page(Thread& thread, const Warp& warp, Session& session, simt::LaneMask waiting) {
    if (this->out_of_memory_) return false;
    const std::uint32_t asking = simt::count_trailing_zeros(waiting);
    std::uint64_t fresh = 0;
    if (thread.lane() == asking) fresh = reinterpret_cast<std::uint64_t>(session.malloc(thread, this->page_bytes_));
    fresh = warp.shfl_lane(fresh, asking);
    warp.sync();  // the requesting lane has acquired the page; the other lanes get it from that lane
    if (fresh == 0) {
      this->out_of_memory_ = true;
      return false;
    }
    close(thread);
    this->turn_to(fresh);
    return true;
  }
};

}  // namespace allocbench
