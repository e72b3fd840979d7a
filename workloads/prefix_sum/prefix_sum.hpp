// prefix_sum compares device malloc with the method of programs that have no device malloc: count, scan, allocate once
// on the host, fill.
//
// Paper: Adinetz & Pleiter 2014, "Halloc vs Prefix Sum + cudaMalloc()".
//
// Every calling thread needs one piece of memory and writes all whole words of it.
//
// Phases:
// * `malloc`: One kernel allocates and writes.
// * `prefix_sum`: A kernel counts what each thread needs, a library makes an exclusive scan, the host reads the sum and
//   allocates once, and a kernel writes. The phase includes the host's waiting.
// * `prefix_sum_pool`: This phase does the same, but the host allocates from a stream-ordered pool, which keeps the
//   memory of earlier samples. This phase is not in the paper.
//
// No phase times the frees.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct PrefixSum {
  struct Parameters : CallerParameters, SizeParameters {
    static auto fields() {
      return std::tuple_cat(
          caller_fields<Parameters>("threads that need memory, one piece each", "Adinetz & Pleiter 2014, prefix sum"),
          size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{.name = "prefix_sum",
                                         .display_name = "Malloc or Prefix Sum",
                                         .paper = "Adinetz & Pleiter 2014, prefix sum",
                                         .summary = "malloc and fill, against count, scan, one allocation and fill",
                                         .phases = "malloc prefix_sum prefix_sum_pool"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
