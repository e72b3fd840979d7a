// latency measures the durations of single mallocs and frees.
//
// As in alloc_free, each caller makes one request in one kernel and frees its block in the next. The clock of the
// multiprocessor times every call, and its duration enters a histogram of the thread block. The counters are the
// median, the 90th, 99th and 99.9th percentile and the longest call. Their unit is the clock tick: a cycle on a GPU, a
// step of the executor on the CPU back end. Steps are not times. A histogram's bucket is one tick wide, or at most 1/16
// of the durations in it. All durations of 2^36 ticks or more share the last bucket.
//
// A mean hides the slow calls that matter to a real-time user. So this workload reports percentiles.
//
// Each timed malloc also costs two clock reads, a store and two atomics on shared memory. A free needs no store. The
// phase `own` is the alloc kernel without its calls. Its counters, such as `own_p50`, show this cost.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct LatencyTails {
  struct Parameters : CallerParameters, SizeParameters {
    static auto fields() {
      return std::tuple_cat(caller_fields<Parameters>("threads that allocate and free, one request each", "assumed"),
                            size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{.name = "latency",
                                         .display_name = "Latency of Calls",
                                         .paper = "assumed: no study shows latency tails",
                                         .summary = "percentiles of the duration of single mallocs and frees",
                                         .phases = "own alloc free"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
