// host_latency measures the time of one allocation by the host, and by a single device thread.
//
// Paper: Huang et al. 2010, sec. VI. The authors compare cudaMalloc of 4 KB with a malloc by one thread on the device.
//
// The host phases time cudaMalloc and cudaFree on the host's clock. On the CPU back end they time the executor's page
// mappings instead, and these times do not predict CUDA's. The stream phases are not in the paper: they send the same
// requests to a stream-ordered pool and end when the stream has completed them. None of these phases uses an
// allocator.
#pragma once

#include "workloads/support/contract/workload.hpp"

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
                                         .phases = "host_alloc host_free stream_alloc stream_free alloc free"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
