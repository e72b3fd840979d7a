// heap_init measures how long an allocator takes to reset its heap and to serve the first requests from the new heap.
//
// Paper: Spliet et al., GPGPU-7 2014, sec. 5.3. The authors report the set-up time of KMA's heap. In the set-up, a
// kernel fills the queue of superblocks.
//
// In this workload the phase `init` is the allocator's reset(), which launches the work of the set-up without memory
// allocation. The metric init_time of every cell is the time of the whole creation on the host's clock, with memory
// allocation. Some designs prepare their structures only at the first request. The phase `first_alloc`
// contains this preparation.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

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

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
