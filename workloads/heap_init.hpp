// heap_init: how long an allocator takes to make its heap as good as new, and to serve the first requests from it.
//
// Spliet et al., GPGPU-7 2014, sec. 5.3, state the set-up time of KMA's heap: a kernel that fills the queue of
// superblocks. Here the phase `init` is the allocator's reset(), which launches the same work without memory
// allocation; the metric init_time of every cell is the whole creation on the host's clock, memory included. Designs
// that prepare their structures when they are first needed pay in the phase `first_alloc`.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct HeapInit {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 16;

    Parameters() { threads = 32; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that allocate from the fresh heap, one request each", "assumed"),
          std::tuple{Field{"request_bytes", &P::request_bytes, "B", "size of these requests", "assumed"}.between(
              1, 1ull << 40)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "heap_init",
                                         .display_name = "Heap Initialisation",
                                         .paper = "Spliet et al. 2014, sec. 5.3",
                                         .summary = "the allocator makes its heap new and serves first requests",
                                         .phases = "init first_alloc"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (A::traits.fresh != Fresh::by_reset) {
      return std::string(A::traits.display_name) + " becomes fresh in a new process only";
    }
    return why_unsupported<A>(p.geometry(), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : stream_(stream),
          geometry_(parameters.geometry()),
          size_{parameters.request_bytes},
          results_(stream, geometry_.callers) {}

    void prepare() { results_.poison(); }

    // Behind the checked adaptor, which has no reset(), the pass starts from a heap that was reset before.
    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      if constexpr (requires(Caller copy) { copy.reset(stream_); }) {
        Caller copy = allocator;
        timer.phase("init", 1, [&] { copy.reset(stream_); });
      }
      timer.phase("first_alloc", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, size_, results_.data());
      });
      simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, results_.data());
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t) { return size_.bytes; }), PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const { return geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      return {{"first_alloc", simt::kernel_attributes<AllocKernel, A, Geometry, FixedSize, void**>()}};
    }

   private:
    simt::Stream& stream_;
    Geometry geometry_;
    FixedSize size_;
    RecordedPointers results_;
  };
};

}  // namespace allocbench
