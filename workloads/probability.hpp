// probability (P): the same kernel launched several times; in each a thread that holds nothing allocates with one
// probability and a thread that holds a block frees it with another, so that a mix of both emerges.
//
// Vinkler & Havran 2015, sec. 5, after Steinberger et al. 2012. Every launch consumes one draw per caller whether or
// not it acts, and one draw decides for both cases, so the sequence of actions is a function of (seed, launch, caller)
// alone. The paper counts 1,450 mallocs and 986 frees at 120 blocks, which its rule reaches after about 3.3 launches
// and not 10: the counters of each sample say what really happened. What is held after the last launch is freed
// untimed.
#pragma once

#include "workloads/common/kernels.hpp"
#include "workloads/common/probability_steps.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/warp_parameters.hpp"
#include "workloads/contract/workload.hpp"

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

struct Probability {
  struct Parameters : WarpParameters {
    std::uint32_t launches = 10;
    double p_alloc = 0.75;
    double p_free = 0.75;

    static auto fields() {
      return std::tuple_cat(
          warp_fields<Parameters>(),
          std::tuple{Field{"launches", &Parameters::launches, "launches", "kernel launches of one sample",
                           "Vinkler & Havran 2015, table 1"}
                         .between(1, 10'000),
                     Field{"p_alloc", &Parameters::p_alloc, "", "probability that a caller without a block allocates",
                           "Vinkler & Havran 2015, sec. 5"}
                         .between(0, 1),
                     Field{"p_free", &Parameters::p_free, "", "probability that a caller with a block frees it",
                           "Vinkler & Havran 2015, sec. 5"}
                         .between(0, 1)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "probability",
                                         .display_name = "Probability",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [P]",
                                         .summary = "repeated launches in which callers allocate or free by chance",
                                         .phases = "total"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(p.geometry(), p.padded_bytes(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          geometry_(parameters.geometry()),
          size_{parameters.padded_bytes()},
          steps_(std::size_t{geometry_.callers} * parameters.launches),
          held_(stream, geometry_.callers),
          results_(stream, geometry_.callers, parameters.launches) {
      steps_.from_host(stream, probability_steps(setting.seed, geometry_.callers, parameters.launches,
                                                 parameters.p_alloc, parameters.p_free));
    }

    void prepare() {
      held_.clear();
      results_.poison();
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("total", 0, [&] {
        for (std::size_t launch = 0; launch < parameters_.launches; ++launch) {
          const std::size_t row = launch * geometry_.callers;
          simt::launch(stream_, geometry_.shape(), ProbabilityKernel{}, allocator, geometry_, size_,
                       static_cast<const std::uint8_t*>(steps_.data() + row), held_.data(), results_.data() + row);
        }
      });
      held_at_end_ = held_.blocks([&](std::size_t) { return size_.bytes; });
      simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, held_.data());
      actions_ = results_.blocks([&](std::size_t) { return size_.bytes; });
      count(timer);
    }

    void check_recorded(PointerCheck& check) const {
      std::vector<RecordedBlock> mallocs;
      std::copy_if(actions_.begin(), actions_.end(), std::back_inserter(mallocs), is_malloc);
      check.check(mallocs, PointerCheck::Live::separately);
      check.check_overlap_only(held_at_end_);
    }

    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{geometry_.callers} * parameters_.launches; }

    std::vector<KernelInfo> kernels() const {
      return {
          {"total",
           simt::kernel_attributes<ProbabilityKernel, A, Geometry, FixedSize, const std::uint8_t*, void**, void**>()}};
    }

   private:
    // A slot of a caller that did nothing in a launch keeps its poison.
    static bool is_free(const RecordedBlock& slot) {
      return slot.address == reinterpret_cast<std::uint64_t>(ProbabilityKernel::freed_mark());
    }
    static bool is_malloc(const RecordedBlock& slot) { return slot.address != poisoned_slot && !is_free(slot); }

    void count(PhaseTimer& timer) {
      const auto mallocs = static_cast<std::uint64_t>(std::count_if(actions_.begin(), actions_.end(), is_malloc));
      const auto frees = static_cast<std::uint64_t>(std::count_if(actions_.begin(), actions_.end(), is_free));
      timer.set_operations("total", mallocs + frees);
      timer.counter("mallocs", mallocs);
      timer.counter("frees", frees);
    }

    simt::Stream& stream_;
    Parameters parameters_;
    Geometry geometry_;
    FixedSize size_;
    simt::Buffer<std::uint8_t> steps_;
    RecordedPointers held_;
    RecordedPointers results_;
    std::vector<RecordedBlock> held_at_end_;  // of the last sample, like actions_
    std::vector<RecordedBlock> actions_;
  };
};

}  // namespace allocbench
