// In work_generation, threads produce a varying amount of work. They request memory for it with malloc, or the host
// allocates it for all threads at once.
//
// Paper: Winter et al., PPoPP'21, work generation (figures 11.c and 11.d).
//
// Phases:
// * `malloc_free`: One kernel allocates, and another one frees.
// * `baseline`: A kernel computes the need of each thread, a library makes an exclusive scan, the host reads the sum
//   and allocates once, a kernel distributes the addresses, and the host frees.
// * `baseline_pool`: This phase does the same, but the host allocates from a stream-ordered pool. This phase is not in
//   the paper.
//
// The baselines round pieces up to multiples of 4 B, as in the paper. Their times include all waiting of the host.
// Unlike in prefix_sum, no kernel writes the memory.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct WorkGeneration {
  struct Parameters : CallerParameters, SizeParameters {
    static auto fields() {
      return std::tuple_cat(caller_fields<Parameters>("threads that produce work, one piece each",
                                                      "Winter et al., PPoPP'21: powers of two to 2^20"),
                            size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "work_generation",
      .display_name = "Work Generation",
      .paper = "Winter et al., PPoPP'21, figs. 11.c and 11.d",
      .summary = "malloc and free per thread, against count, scan and one allocation by the host",
      .phases = "malloc_free baseline baseline_pool"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
