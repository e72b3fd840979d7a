// PageWriter: a thread's own chain of pages, written record by record.
//
// Pham et al. 2025, appendix B: a thread writes its results to its current page and asks for another one when the page
// is full. Nothing is shared, so there is no protocol: the number of records stays in a register and goes into the
// page's header when the page is full or the thread is done. Pages are those of page_chain.hpp.
//
// After a null the writer makes no more requests, so that a thread ends in bounded time.
#pragma once

#include "containers/page_chain.hpp"

namespace allocbench {

template <class T>
class PageWriter {
 public:
  using Chain = PageChain<T>;

  SIMT_FN explicit PageWriter(std::size_t page_bytes)
      : page_bytes_(page_bytes), capacity_(Chain::capacity(page_bytes)), used_(capacity_) {}

  // False when there is no page for the record. `session` is an allocator or its session.
  template <class Thread, class Session>
  SIMT_FN bool append(Thread& thread, Session& session, const T& record) {
    if (used_ == capacity_ && !next_page(thread, session)) return false;
    Chain::records(page_)[used_] = record;
    ++used_;
    return true;
  }

  // Must follow the last append.
  SIMT_FN void close() {
    if (page_ != 0) Chain::write_header(page_, before_, used_);
  }

  SIMT_FN std::uint64_t newest_page() const { return page_; }
  SIMT_FN std::uint32_t records() const { return pages_ == 0 ? 0 : (pages_ - 1) * capacity_ + used_; }
  SIMT_FN bool out_of_memory() const { return out_of_memory_; }

 private:
  template <class Thread, class Session>
  SIMT_FN bool next_page(Thread& thread, Session& session) {
    if (out_of_memory_) return false;
    void* const fresh = session.malloc(thread, page_bytes_);
    if (fresh == nullptr) {
      out_of_memory_ = true;
      return false;
    }
    close();
    before_ = page_;
    page_ = reinterpret_cast<std::uint64_t>(fresh);
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
