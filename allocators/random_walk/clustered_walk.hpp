// CRW is a clustered random walk, which starts next to the thread's last page.
//
// Paper: Pham et al. 2025, section 4.2 and algorithm 5.
//
// Idea: Free pages come in clusters, so a thread remembers the page that it took last. Its next request first checks
// the word of the following page. If this gives no page, the thread walks (RW-BM). A clustered walk suits sporadic
// requests, such as those of one lane of a warp.
//
// Data: the bitmap (bitmap.hpp; words of 64 bits in crw_64) and the last page of each thread. An entry of `last_pages_`
// is the last page + 1, which is the page to check next, or 0 if there is none. A session keeps this entry in a
// register and writes it back at its end, so that it survives the kernel. Threads whose ranks are equal modulo the
// number of entries share an entry. An entry is only a hint.
//
// Differs from the paper (crw):
// * All differences of rw_bm apply (bitmap_walk.hpp). The authors' mallocs are faster, because they take no lock.
// * A thread without a last page starts with a walk (assumed). If it began at page 0 instead, all threads would first
//   check word 0.
// * After the last page of the pool comes page 0.
// * A table keeps a fixed number of last pages, not one per thread.
//
// Reworked (crw_reworked): There is no LockMap. The first attempt is an atomic OR of the bit of the following page,
// without a load before. A walk ends as in rw_bm_reworked.
#pragma once

#include "allocators/random_walk/bitmap_pages.hpp"

namespace allocbench {
namespace random_walk {

struct ClusteredParameters : PageParameters {
  std::uint32_t threads_remembered = 1 << 20;

  static auto fields() {
    using P = ClusteredParameters;
    return std::tuple_cat(page_fields<P>(), std::tuple{Field{"threads_remembered", &P::threads_remembered, "threads",
                                                             "threads whose last page is kept; others share",
                                                             "sec. 4.2: every thread; assumed: a bound on the memory"}
                                                           .between(1, 1u << 30)
                                                           .powers_of_two()});
  }
};

template <Locking locking, class Word = std::uint32_t>
class ClusteredWalk : public BitmapPages<locking, Word> {
  using BitmapPages<locking, Word>::bitmap_;

 public:
  using Parameters = ClusteredParameters;

  class Session {
   public:
    SIMT_FN Session(const PageBitmap<locking, Word>& bitmap, std::uint32_t& last_page)
        : bitmap_(&bitmap), last_page_(&last_page) {}

    template <class Thread>
    SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
      if (bitmap_->pages.limit.refuses(bytes)) return nullptr;
      if (!known_) {
        next_ = thread.atomic(*last_page_).load(simt::relaxed);
        known_ = true;
      }
      std::uint32_t page = no_page;
      if (next_ != 0) {
        bool counts;
        page = bitmap_->probe(thread, next_ == bitmap_->pages.count ? 0 : next_, true, counts);
      }
      if (page == no_page) page = bitmap_->walk(thread, next_ == 0);
      if (page == no_page) return nullptr;
      next_ = page + 1;
      moved_ = true;
      return bitmap_->pages.address(page);
    }

    template <class Thread>
    SIMT_FN void free(Thread& thread, void* block) {
      bitmap_->free(thread, block);
    }

    template <class Thread>
    SIMT_FN void detach(Thread& thread) {
      if (moved_) thread.atomic(*last_page_).store(next_, simt::relaxed);
    }

   private:
    const PageBitmap<locking, Word>* bitmap_;
    std::uint32_t* last_page_;
    std::uint32_t next_ = 0;  // page to check next, or 0, as in last_pages_
    bool known_ = false;
    bool moved_ = false;
  };

  // The heap has one and a half words of the bitmap. Threads share its eight entries of last pages.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.page_bytes = 16;
    parameters.threads_remembered = 8;
    return {BitmapPages<locking, Word>::small_pages * 16, parameters};
  }

  void reset(simt::Stream& stream) {
    bitmap_.reset(stream);
    simt::device_fill(stream, last_pages_, 0, remembered_ * sizeof *last_pages_);
  }

  template <class Thread>
  SIMT_FN Session attach(Thread& thread) {
    return {bitmap_, last_pages_[thread.rank_in_grid() & (remembered_ - 1)]};
  }

  std::string broken_invariant(simt::Stream& stream) const {
    std::vector<std::uint32_t> image(remembered_);
    simt::copy_to_host(stream, image.data(), last_pages_, image.size() * sizeof image[0]);
    for (const std::uint32_t next : image) {
      if (next > bitmap_.pages.count) return "a thread's last page lies beyond the end of the pool";
    }
    return bitmap_.broken_invariant(stream);
  }

 protected:
  static ClusteredWalk lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    ClusteredWalk allocator;
    allocator.bitmap_ = PageBitmap<locking, Word>::create(arena, parameters, name);
    allocator.last_pages_ = arena.metadata<std::uint32_t>(parameters.threads_remembered);
    allocator.remembered_ = parameters.threads_remembered;
    return allocator;
  }

 private:
  std::uint32_t* last_pages_ = nullptr;  // last page + 1 of each entry, or 0; only a hint, so relaxed
  std::uint32_t remembered_ = 0;
};

}  // namespace random_walk
}  // namespace allocbench
