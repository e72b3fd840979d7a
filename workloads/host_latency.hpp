// host_latency: what one allocation costs the host, and what it costs a single device thread.
//
// Huang et al. 2010, sec. VI: cudaMalloc of 4 KB against a malloc by one thread on the device. The host phases time the
// function that the back end's own buffers come from, cudaMalloc and cudaFree, by the host's clock; on the CPU back end
// that is the executor's map of pages, whose numbers say nothing about CUDA. The allocator has no part in them.
#pragma once

#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/requirements.hpp"
#include "workloads/common/several_kernels.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct HostLatency {
  struct Parameters {
    std::uint64_t request_bytes = 4096;
    std::uint32_t allocations = 100;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"request_bytes", &P::request_bytes, "B", "size of every request", "Huang et al. 2010, sec. VI"}.between(
              1, 1ull << 40),
          Field{"allocations", &P::allocations, "blocks",
                "allocations one after the other; all are freed after the last", "assumed"}
              .between(1, 1 << 20)};
    }
  };

  static constexpr WorkloadTraits traits{.name = "host_latency",
                                         .display_name = "Host and Single-Thread Latency",
                                         .paper = "Huang et al. 2010, sec. VI",
                                         .summary = "allocations by the host, and by one device thread",
                                         .phases = "host_alloc host_free alloc free"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(Geometry::of_callers(1, 1, 1), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : stream_(stream),
          calls_{.geometry = Geometry::of_callers(1, 1, 1), .allocations = parameters.allocations},
          size_{.fixed = parameters.request_bytes},
          results_(stream, 1, parameters.allocations) {
      host_blocks_.reserve(parameters.allocations);
    }

    void prepare() { results_.poison(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.host_phase("host_alloc", calls_.allocations, [&] {
        for (std::uint32_t i = 0; i < calls_.allocations; ++i) host_blocks_.emplace_back(size_.fixed);
      });
      timer.host_phase("host_free", calls_.allocations, [&] { host_blocks_.clear(); });
      const simt::LaunchShape shape = calls_.geometry.shape();
      timer.phase("alloc", calls_.allocations, [&] {
        simt::launch(stream_, shape, AllocSeveralKernel{}, allocator, calls_, size_, results_.data());
      });
      timer.phase("free", calls_.allocations,
                  [&] { simt::launch(stream_, shape, FreeSeveralKernel{}, allocator, calls_, results_.data()); });
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t) { return size_.fixed; }), PointerCheck::Live::together);
    }

    RequestProfile requests() const {
      return {Geometry::of_callers(calls_.allocations, 1, 1), RequestSizes::fixed(size_.fixed)};
    }
    std::uint64_t mallocs_at_most() const { return calls_.allocations; }

    std::vector<KernelInfo> kernels() const {
      return {{"alloc", simt::kernel_attributes<AllocSeveralKernel, A, SeveralCalls, AnySize, void**>()},
              {"free", simt::kernel_attributes<FreeSeveralKernel, A, SeveralCalls, void**>()}};
    }

   private:
    simt::Stream& stream_;
    SeveralCalls calls_;
    AnySize size_;
    std::vector<simt::Buffer<std::byte>> host_blocks_;
    RecordedPointers results_;
  };
};

}  // namespace allocbench
