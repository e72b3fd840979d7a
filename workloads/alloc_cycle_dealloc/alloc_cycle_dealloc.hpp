// In alloc_cycle_dealloc (ACD), each calling thread allocates several blocks and then frees all of them, in one kernel.
//
// Paper: Vinkler & Havran 2015, sec. 5, after Widmer et al. 2013.
//
// A global array has a row of pointers per iteration, with one per caller, so a warp's accesses coalesce. Registers
// cannot hold hundreds of pointers per thread, and an array in local memory would cause the same traffic. The check
// also needs the array. The blocks of one thread are in use together, but another thread may have freed its blocks
// already. So the check for overlaps looks at each thread separately.
#pragma once

#include "workloads/support/callers/warp_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/kernels/sm_confinement.hpp"

namespace allocbench {

struct AllocCycleDealloc {
  struct Parameters : WarpParameters, SmParameters {
    std::uint32_t iterations = 10;

    static auto fields() {
      return std::tuple_cat(
          warp_fields<Parameters>(), sm_fields<Parameters>(),
          std::tuple{Field{"iterations", &Parameters::iterations, "blocks",
                           "blocks that each caller allocates before it frees them", "Vinkler & Havran 2015, table 1"}
                         .between(1, 100'000)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_cycle_dealloc",
                                         .display_name = "Alloc Cycle Dealloc",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [ACD]",
                                         .summary = "every caller allocates several blocks, then frees them all",
                                         .phases = "total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
