#include "workloads/prefix_sum/counted_pieces.hpp"

#include <utility>

#include "workloads/prefix_sum/kernels.hpp"

namespace allocbench {
namespace {

struct CountKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, AnySize sizes, std::uint32_t unit,
                          std::uint64_t* counts) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) counts[caller] = (sizes[caller] + unit - 1) / unit * unit;
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

struct AddressKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, const std::uint64_t* offsets, std::byte* memory,
                          void** addresses) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) addresses[caller] = memory + offsets[caller];
  }
};

}  // namespace

std::byte* CountedPieces::make(AnySize sizes, PiecesFrom from) {
  simt::launch(stream_, geometry_.shape(), CountKernel{}, geometry_, sizes, unit_, counts_.data());
  scan_.run(stream_, counts_.data(), offsets_.data());
  std::uint64_t last_count = 0;
  std::uint64_t last_offset = 0;
  simt::copy_to_host(stream_, &last_count, counts_.data() + geometry_.callers - 1, sizeof last_count);
  simt::copy_to_host(stream_, &last_offset, offsets_.data() + geometry_.callers - 1, sizeof last_offset);
  const std::uint64_t bytes = last_offset + last_count;
  if (from == PiecesFrom::device) {
    memory_ = simt::Buffer<std::byte>(bytes);
    return memory_.data();
  }
  pooled_ = pool_.allocate(stream_, bytes);
  return static_cast<std::byte*>(pooled_);
}

void CountedPieces::free() {
  memory_ = {};
  pool_.release(stream_, std::exchange(pooled_, nullptr));
}

void CountedPieces::make_written(AnySize sizes, PiecesFrom from) {
  std::byte* const memory = make(sizes, from);
  simt::launch(stream_, geometry_.shape(), FillKernel{}, geometry_, sizes,
               static_cast<const std::uint64_t*>(offsets_.data()), memory);
}

void CountedPieces::make_addresses(AnySize sizes, PiecesFrom from, void** addresses) {
  std::byte* const memory = make(sizes, from);
  simt::launch(stream_, geometry_.shape(), AddressKernel{}, geometry_,
               static_cast<const std::uint64_t*>(offsets_.data()), memory, addresses);
}

std::string CountedPieces::problem(const RequestSizes& sizes) const {
  const std::vector<std::uint64_t> offsets = this->offsets();
  std::uint64_t expected = 0;
  for (std::size_t caller = 0; caller < offsets.size(); ++caller) {
    if (offsets[caller] != expected) {
      return "the piece of caller " + std::to_string(caller) + " begins at " + std::to_string(offsets[caller]) +
             " instead of " + std::to_string(expected);
    }
    expected += (sizes[caller] + unit_ - 1) / unit_ * unit_;
  }
  return {};
}

}  // namespace allocbench
