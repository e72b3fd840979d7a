// In pairs, every caller allocates a block and frees it immediately, many times in one kernel.
//
// Paper: Spliet et al., GPGPU-7 2014, sec. 5.1. One thread makes up to 10,000 pairs (fig. 4), or each of many threads
// makes 100 (fig. 5). The sizes are equal, or drawn from a narrow or a wide range.
//
// Each pair has its own size, drawn before the kernel starts. A thread stores its pointer before it frees the block.
// Another thread may own the block later, so pointers are checked one by one and not against each other. In a
// verification pass a thread makes at most 16 pairs.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct Pairs {
  struct Parameters : CallerParameters, SizeParameters {
    std::uint32_t iterations = 100;

    Parameters() { threads = 1024; }

    static auto fields() {
      return std::tuple_cat(
          caller_fields<Parameters>("threads that allocate and free", "Spliet et al. 2014, fig. 5"),
          std::tuple{Field{"iterations", &Parameters::iterations, "pairs",
                           "pairs of malloc and free that a caller makes", "Spliet et al. 2014, sec. 5.1"}
                         .between(1, 1 << 24)},
          size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{.name = "pairs",
                                         .display_name = "Malloc-Free Pairs",
                                         .paper = "Spliet et al. 2014, sec. 5.1",
                                         .summary = "every caller allocates a block and frees it at once, many times",
                                         .phases = "total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
