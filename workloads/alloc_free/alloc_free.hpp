// alloc_free is a test with two kernels, as in many papers on GPU allocators.
//
// N threads request one block each in one kernel, and the same threads free their blocks in the next. The alloc kernel
// only calls malloc and stores the pointer. `threads` is the number of calling threads. With fewer than 32
// `lanes_per_warp`, the grid can have more threads than `threads`.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct AllocFree {
  struct Parameters : CallerParameters, SizeParameters {
    std::uint32_t alignment = 1;

    static auto fields() {
      return std::tuple_cat(caller_fields<Parameters>("threads that allocate, one request each", "all papers"),
                            size_fields<Parameters>(),
                            std::tuple{Field{"alignment", &Parameters::alignment, "B",
                                             "every block is a multiple of it; 1: whatever the design gives", "assumed"}
                                           .between(1, 1u << 31)
                                           .powers_of_two()});
    }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_free",
                                         .display_name = "Alloc, then Free",
                                         .paper = "common to all papers; Winter et al., PPoPP'21, figs. 9 and 10",
                                         .summary = "one kernel of N mallocs, then one kernel of N frees",
                                         .phases = "alloc free"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
