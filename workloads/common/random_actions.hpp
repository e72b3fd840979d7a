// RandomActions: callers that allocate when they hold nothing and free when they hold a block, each by chance, launch
// after launch. What the probability and the randomized workload share.
//
// Every launch consumes one draw per caller whether or not it acts, and one draw decides for both cases, so the
// sequence of actions is a function of (seed, launch, draw) alone.
#pragma once

#include "workloads/common/kernels.hpp"
#include "workloads/common/probability_steps.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/sm_confinement.hpp"

namespace allocbench {

// `held` has a slot per caller: the block it holds, or null. `results` is this launch's row of what malloc returned.
// The caller's draw is a byte of step bits, made on the host: the timed kernel holds no generator. A free leaves its
// mark in the result slot, so that the counters are measured and not derived from the draws.
struct ProbabilityKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, const std::uint8_t* steps,
                          void** held, void** results) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    const std::uint32_t step = steps[caller];
    void* const block = held[caller];
    if ((step & (block == nullptr ? step_allocates : step_frees)) == 0) return;
    auto&& session = attach(allocator, thread);
    if (block == nullptr) {
      void* const fresh = session.malloc(thread, size[caller]);
      results[caller] = fresh;
      held[caller] = fresh;
    } else {
      session.free(thread, block);
      release_all(session, thread);  // a caller holds one block at most
      held[caller] = nullptr;
      results[caller] = freed_mark();
    }
    detach(session, thread);
  }

  // Stands in a result slot where the caller freed. Odd, so no allocator returns it.
  static SIMT_HOST_FN void* freed_mark() { return reinterpret_cast<void*>(std::uintptr_t{1}); }
};

class RandomActions {
 public:
  // Mallocs and frees that really happened.
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

  // `confine` as in SmConfinement::launch().
  template <bool confine = false, class Caller>
  void launch(const Caller& allocator, std::uint32_t number) {
    const std::size_t row = std::size_t{number} * geometry_.callers;
    confinement_.launch<confine>(geometry_.shape(), ProbabilityKernel{}, allocator, geometry_, size_,
                                 static_cast<const std::uint8_t*>(steps_.data() + row), held_.data(),
                                 results_.data() + row);
  }

  // After the last launch: frees what is still held and reads what happened.
  template <class Caller>
  void finish(const Caller& allocator) {
    held_at_end_ = held_.blocks([&](std::size_t) { return size_.bytes; });
    simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, held_.data());
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

  template <class A, bool confine = false>
  simt::KernelAttributes kernel_attributes() const {
    if constexpr (confine) {
      return confinement_.attributes<ProbabilityKernel, A, Geometry, FixedSize, const std::uint8_t*, void**, void**>();
    } else {
      return simt::kernel_attributes<ProbabilityKernel, A, Geometry, FixedSize, const std::uint8_t*, void**, void**>();
    }
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
