// atomic_latency measures how long a thread waits for an atomic addition to a word to which all threads add.
//
// Paper: Pham et al. 2025, fig. 1. The latency grows with the number of threads. In an allocator with one queue, all
// requests update such a word.
//
// On the CPU back end the threads are threads of the operating system and not lanes of the executor. If there are more
// threads than cores, they take turns. The workload uses no allocator.
#pragma once

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct AtomicLatency {
  struct Parameters {
    std::uint32_t threads = 1024;
    std::uint32_t threads_per_block = 32;
    std::uint32_t additions = 100;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"threads", &P::threads, "threads", "threads that add to the word", "Pham et al. 2025, fig. 1"}.between(
              1, 1 << 20),
          Field{"threads_per_block", &P::threads_per_block, "threads",
                "threads of a block; nothing on the CPU back end", "assumed: one warp"}
              .between(1, most_threads_per_block),
          Field{"additions", &P::additions, "additions", "additions of a thread, one after the other", "assumed"}
              .between(1, 1 << 24)};
    }
  };

  static constexpr WorkloadTraits traits{.name = "atomic_latency",
                                         .display_name = "Latency of Atomics",
                                         .paper = "Pham et al. 2025, fig. 1",
                                         .summary = "all threads add to one word; no allocation at all",
                                         .phases = "atomics",
                                         .writes_blocks = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
