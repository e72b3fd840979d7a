// BitmapPages is the common part of the walks over a bitmap (bitmap_walk.hpp, collaborative_walk.hpp,
// clustered_walk.hpp).
#pragma once

#include "allocators/random_walk/bitmap.hpp"

namespace allocbench {
namespace random_walk {

template <Locking locking, class Word = std::uint32_t>
class BitmapPages {
 public:
  using Parameters = PageParameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.page_bytes; }
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = small_pages * 16, .parameters = {.page_bytes = 16}, .serves_new = small_pages};
  }

  void reset(simt::Stream& stream) { bitmap_.reset(stream); }

  // workloads/support/occupancy/occupancy.hpp describes these two functions.
  std::uint32_t page_count() const { return bitmap_.pages.count; }
  template <class Used>
  void occupy(simt::Stream& stream, const Used& used) const {
    bitmap_.occupy(stream, used);
  }

  std::string broken_invariant(simt::Stream& stream) const { return bitmap_.broken_invariant(stream); }

 protected:
  static constexpr std::uint32_t small_pages = 12 * sizeof(Word);  // one and a half words

  PageBitmap<locking, Word> bitmap_;
};

}  // namespace random_walk
}  // namespace allocbench
