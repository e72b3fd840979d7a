// replay: the calls of a recorded application, under any allocator (docs/try-your-application.md).
//
// Kernels stay kernels, and each thread makes its calls in its order, with nothing in between. A free of a block that
// another thread of the same kernel made splits the kernel there, so that no thread waits for another. Mallocs that
// were refused when the trace was recorded are left out. A malloc that is refused now is counted, and so is its free,
// which is left out.
#pragma once

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Replay {
  struct Parameters {
    std::string trace;

    static auto fields() {
      return std::tuple{Field{"trace", &Parameters::trace, "", "folder of the trace; data/traces/ has some",
                              "assumed: recorded by the user"}};
    }
  };

  static constexpr WorkloadTraits traits{.name = "replay",
                                         .display_name = "Replay of a Trace",
                                         .paper = "none: a recorded application",
                                         .summary = "the mallocs and frees of a recorded application, kernel by kernel",
                                         .phases = "total",
                                         .null_expected = true,
                                         .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
