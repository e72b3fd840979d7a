// RandomActions launches kernels in which callers act at random. A caller without a block allocates with some
// probability, and a caller with a block frees it with some probability. The workloads `probability` and `randomized`
// use this class.
//
// Every launch has one draw for each caller, even if the caller does not act. The draw decides on a malloc or a free.
// Several callers may share a draw. So the draws depend only on the seed, and not on the results of malloc.
#pragma once

#include "workloads/support/callers/random_action_kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/kernels/sm_confinement.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {

class RandomActions {
 public:
  // Numbers of mallocs and frees.
  struct Counts {
    std::uint64_t mallocs = 0;
    std::uint64_t frees = 0;
    std::uint64_t sum() const { return mallocs + frees; }
  };

  // `steps` has one row per launch, with one byte per caller.
  RandomActions(simt::Stream& stream, const Geometry& geometry, FixedSize size, const std::vector<std::uint8_t>& steps,
                std::uint32_t launches, const SmParameters& sms = {})
      : stream_(stream),
        geometry_(geometry),
        size_(size),
        steps_(steps.size()),
        held_(stream, geometry.callers),
        results_(stream, geometry.callers, launches),
        confinement_(stream, sms, launches) {
    steps_.from_host(stream, steps);
  }

  void prepare() {
    held_.clear();
    results_.poison();
    confinement_.prepare();
  }

  void launch(const AllocatorHandle& allocator, std::uint32_t number) {
    const std::size_t row = std::size_t{number} * geometry_.callers;
    confinement_.launch<RandomActionKernels>(allocator, geometry_.shape(), ProbabilityKernel{}, geometry_, size_,
                                             static_cast<const std::uint8_t*>(steps_.data() + row), held_.data(),
                                             results_.row(number));
  }

  // Frees all remaining blocks. Call this function after the last launch.
  void finish(const AllocatorHandle& allocator) {
    held_at_end_ = held_.blocks([&](std::size_t) { return size_.bytes; });
    allocator.launch<CallKernels>(stream_, geometry_.shape(), FreeKernel{}, geometry_, held_.data());
  }

  // Counts the mallocs and frees of the finished launches `first` to `last` - 1. If a caller did nothing in a launch,
  // its slot keeps its poison.
  Counts counts(std::uint32_t first, std::uint32_t last) const {
    const std::uint64_t idle = results_.holding(reinterpret_cast<void*>(poisoned_slot), first, last);
    const std::uint64_t frees = results_.holding(ProbabilityKernel::freed_mark(), first, last);
    return {std::uint64_t{last - first} * geometry_.callers - idle - frees, frees};
  }

  void check_recorded(PointerCheck& check) const {
    results_.check_unmarked(check, size_.bytes, ProbabilityKernel::freed_mark(), counts(0, results_.rounds()).mallocs);
    check.check_overlap_only(held_at_end_);
  }

  simt::KernelAttributes kernel_attributes(const AllocatorType& type) const {
    return confinement_
        .attributes<RandomActionKernels, ProbabilityKernel, Geometry, FixedSize, const std::uint8_t*, void**, void**>(
            type);
  }

 private:
  simt::Stream& stream_;
  Geometry geometry_;
  FixedSize size_;
  simt::Buffer<std::uint8_t> steps_;
  RecordedPointers held_;
  RecordedPointers results_;
  SmConfinement confinement_;
  std::vector<RecordedBlock> held_at_end_;  // blocks held at the end of the last sample
};

}  // namespace allocbench
