// latency: how long single mallocs and frees last. One request per caller in one kernel, their frees in the next, as in
// alloc_free; every call is timed by the clock of its multiprocessor and counted in a histogram of its block.
//
// A mean hides the slow calls that matter to a real-time user. No study of GPU allocators shows tails. Counters are the
// median, the 90th, 99th and 99.9th percentile and the longest call, in clock ticks (cycles on a GPU; steps of the
// executor on the CPU back end, which are not times). A bucket is at most 1/16 wide.
//
// Measuring costs two clock reads, a store and two atomics on shared memory per call. Phase `own` is the alloc kernel
// without its calls, and `own_p50` and so on are its counters. Subtract them if they matter.
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
