// In alloc_dealloc (AD), each calling thread allocates one block and frees it immediately, in one kernel.
//
// Paper: Vinkler & Havran 2015, sec. 5, after Huang et al. 2010.
//
// A thread stores its pointer before it frees the block. Another thread may own the block later, so pointers are
// checked one by one and not against each other.
#pragma once

#include "workloads/support/callers/warp_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/kernels/sm_confinement.hpp"

namespace allocbench {

struct AllocDealloc {
  struct Parameters : WarpParameters, SmParameters {
    static auto fields() { return std::tuple_cat(warp_fields<Parameters>(), sm_fields<Parameters>()); }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_dealloc",
                                         .display_name = "Alloc Dealloc",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [AD]",
                                         .summary = "every caller allocates one block and frees it at once",
                                         .phases = "total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
