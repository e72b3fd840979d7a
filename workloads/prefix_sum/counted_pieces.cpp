#include "workloads/prefix_sum/counted_pieces.hpp"

#include "workloads/prefix_sum/kernels.hpp"

namespace allocbench {
namespace {

struct CountKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, AnySize sizes, std::uint64_t* counts) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) counts[caller] = (sizes[caller] + 15) / 16 * 16;
  }
};

struct FillKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, AnySize sizes, const std::uint64_t* offsets,
                          std::byte* memory) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) write_words(memory + offsets[caller], sizes[caller], caller);
  }
};

}  // namespace

void CountedPieces::make(AnySize sizes) {
  simt::launch(stream_, geometry_.shape(), CountKernel{}, geometry_, sizes, counts_.data());
  scan_.run(stream_, counts_.data(), offsets_.data());
  std::uint64_t last_count = 0;
  std::uint64_t last_offset = 0;
  simt::copy_to_host(stream_, &last_count, counts_.data() + geometry_.callers - 1, sizeof last_count);
  simt::copy_to_host(stream_, &last_offset, offsets_.data() + geometry_.callers - 1, sizeof last_offset);
  memory_ = simt::Buffer<std::byte>(last_offset + last_count);
  simt::launch(stream_, geometry_.shape(), FillKernel{}, geometry_, sizes,
               static_cast<const std::uint64_t*>(offsets_.data()), memory_.data());
}

}  // namespace allocbench
