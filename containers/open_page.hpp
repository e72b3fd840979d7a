// OpenPage holds the page that a writer fills, and counts the writer's pages and records.
//
// The writer writes the header of a page when it gets its next page, or in close(). Pages have the format of
// page_chain.hpp. After malloc has returned null, the writer makes no more requests.
#pragma once

#include "containers/page_chain.hpp"

namespace allocbench {

template <class T>
class OpenPage {
 public:
  using Chain = PageChain<T>;

  SIMT_FN explicit OpenPage(std::size_t page_bytes)
      : page_bytes_(page_bytes), capacity_(Chain::capacity(page_bytes)), used_(capacity_) {}

  SIMT_FN std::uint64_t newest_page() const { return page_; }
  SIMT_FN std::uint32_t records() const { return pages_ == 0 ? 0 : (pages_ - 1) * capacity_ + used_; }
  SIMT_FN bool out_of_memory() const { return out_of_memory_; }

 protected:
  SIMT_FN bool full() const { return used_ == capacity_; }
  SIMT_FN void write_header() const { Chain::write_header(page_, before_, used_); }

  // Switches to a fresh page. The header of the previous page, if there is one, must already be written.
  SIMT_FN void turn_to(std::uint64_t fresh) {
    before_ = page_;
    page_ = fresh;
    used_ = 0;
    ++pages_;
  }

  std::size_t page_bytes_;
  std::uint32_t capacity_;
  std::uint32_t used_;  // used places of the current page; all of them if there is no page
  std::uint32_t pages_ = 0;
  std::uint64_t page_ = 0;
  std::uint64_t before_ = 0;
  bool out_of_memory_ = false;
};

}  // namespace allocbench
