// probability (P) launches the same kernel several times. In each launch a thread without a block allocates with the
// probability `p_alloc`, and a thread with a block frees it with the probability `p_free`.
//
// Paper: Vinkler & Havran 2015, sec. 5, after Steinberger et al. 2012. The paper counts 1,450 mallocs and 986 frees at
// 120 blocks. The paper's rule reaches these numbers between the third and the fourth launch, and not after the paper's
// 10 launches. The counters of each sample give the actual numbers.
//
// Blocks held after the last launch are freed untimed.
#pragma once

#include "workloads/support/callers/warp_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/kernels/sm_confinement.hpp"

namespace allocbench {

struct Probability {
  struct Parameters : WarpParameters, SmParameters {
    std::uint32_t launches = 10;
    double p_alloc = 0.75;
    double p_free = 0.75;

    static auto fields() {
      return std::tuple_cat(
          warp_fields<Parameters>(), sm_fields<Parameters>(),
          std::tuple{Field{"launches", &Parameters::launches, "launches", "kernel launches of one sample",
                           "Vinkler & Havran 2015, table 1"}
                         .between(1, 10'000),
                     Field{"p_alloc", &Parameters::p_alloc, "", "probability that a caller without a block allocates",
                           "Vinkler & Havran 2015, sec. 5"}
                         .between(0, 1),
                     Field{"p_free", &Parameters::p_free, "", "probability that a caller with a block frees it",
                           "Vinkler & Havran 2015, sec. 5"}
                         .between(0, 1)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "probability",
                                         .display_name = "Probability",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [P]",
                                         .summary = "repeated launches in which callers allocate or free by chance",
                                         .phases = "total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
