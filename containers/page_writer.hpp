// PageWriter is a thread's own chain of pages, written record by record.
//
// Paper: Pham et al. 2025, appendix B. A thread writes its results to its current page and requests another page when
// this one is full.
//
// Threads share nothing, so there is no protocol. The writer is a local object of its thread (open_page.hpp).
#pragma once

#include "containers/open_page.hpp"

namespace allocbench {

template <class T>
class PageWriter : public OpenPage<T> {
 public:
  using typename OpenPage<T>::Chain;
  using OpenPage<T>::OpenPage;

  // Returns false if there is no page for the record. `session` is an allocator, or a session of an allocator.
  template <class Thread, class Session>
  SIMT_FN bool append(Thread& thread, Session& session, const T& record) {
    if (this->full() && !next_page(thread, session)) return false;
    Chain::records(this->page_)[this->used_] = record;
    ++this->used_;
    return true;
  }

  // Ends the chain. Call it after the last append.
  SIMT_FN void close() {
    if (this->page_ != 0) this->write_header();
  }

 private:
  template <class Thread, class Session>
  SIMT_FN bool next_page(Thread& thread, Session& session) {
    if (this->out_of_memory_) return false;
    void* const fresh = session.malloc(thread, this->page_bytes_);
    if (fresh == nullptr) {
      this->out_of_memory_ = true;
      return false;
    }
    close();
    this->turn_to(reinterpret_cast<std::uint64_t>(fresh));
    return true;
  }
};

}  // namespace allocbench
