// BitmapPages: what the walks over a bitmap share (bitmap_walk.hpp, collaborative_walk.hpp, clustered_walk.hpp).
#pragma once

#include "allocators/random_walk/bitmap.hpp"

namespace allocbench {
namespace random_walk {

template <Locking locking>
class BitmapPages {
 public:
  using Parameters = PageParameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.page_bytes; }
  // One and a half words.
  static SmallHeap<Parameters> small_heap() { return {48 * 16, {.page_bytes = 16}}; }

  void reset(simt::Stream& stream) { bitmap_.reset(stream); }

  // See workloads/common/occupancy.hpp.
  std::uint32_t page_count() const { return bitmap_.pages.count; }
  template <class Used>
  void occupy(simt::Stream& stream, const Used& used) const {
    bitmap_.occupy(stream, used);
  }

  std::string broken_invariant(simt::Stream& stream) const { return bitmap_.broken_invariant(stream); }

 protected:
  PageBitmap<locking> bitmap_;
};

}  // namespace random_walk
}  // namespace allocbench
