// RandomActions: launch after launch, a caller that holds nothing allocates by chance and a caller that holds a block
// frees it by chance. Shared by the probability and the randomized workload.
//
// Every launch consumes one draw per caller whether or not it acts, and one draw decides for both cases, so the
// sequence of actions is a function of (seed, launch, draw) alone.
#pragma once

#include "workloads/common/call_kernels.hpp"
#include "workloads/common/random_action_kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/sm_confinement.hpp"

namespace allocbench {

class RandomActions {
 public:
  // Mallocs and frees that happened.
  struct Counts {
    std::uint64_t mallocs = 0;
    std::uint64_t frees = 0;
    std::uint64_t sum() const { return mallocs + frees; }
  };

  // `steps` has `launches` rows of callers.
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

  // After the last launch: frees what is still held and reads what happened.
  void finish(const AllocatorHandle& allocator) {
    held_at_end_ = held_.blocks([&](std::size_t) { return size_.bytes; });
    allocator.launch<CallKernels>(stream_, geometry_.shape(), FreeKernel{}, geometry_, held_.data());
    actions_ = results_.blocks([&](std::size_t) { return size_.bytes; });
  }

  // Of the launches from `first` to before `last`, once finished.
  Counts counts(std::uint32_t first, std::uint32_t last) const {
    const auto begin = actions_.begin() + std::ptrdiff_t{first} * geometry_.callers;
    const auto end = actions_.begin() + std::ptrdiff_t{last} * geometry_.callers;
    return {static_cast<std::uint64_t>(std::count_if(begin, end, is_malloc)),
            static_cast<std::uint64_t>(std::count_if(begin, end, is_free))};
  }

  void check_recorded(PointerCheck& check) const {
    std::vector<RecordedBlock> mallocs;
    std::copy_if(actions_.begin(), actions_.end(), std::back_inserter(mallocs), is_malloc);
    check.check(mallocs, PointerCheck::Live::separately);
    check.check_overlap_only(held_at_end_);
  }

  simt::KernelAttributes kernel_attributes(const AllocatorType& type) const {
    return confinement_
        .attributes<RandomActionKernels, ProbabilityKernel, Geometry, FixedSize, const std::uint8_t*, void**, void**>(
            type);
  }

 private:
  // A slot of a caller that did nothing in a launch keeps its poison.
  static bool is_free(const RecordedBlock& slot) {
    return slot.address == reinterpret_cast<std::uint64_t>(ProbabilityKernel::freed_mark());
  }
  static bool is_malloc(const RecordedBlock& slot) { return slot.address != poisoned_slot && !is_free(slot); }

  simt::Stream& stream_;
  Geometry geometry_;
  FixedSize size_;
  simt::Buffer<std::uint8_t> steps_;
  RecordedPointers held_;
  RecordedPointers results_;
  SmConfinement confinement_;
  std::vector<RecordedBlock> held_at_end_;  // of the last sample, like actions_
  std::vector<RecordedBlock> actions_;
};

}  // namespace allocbench
