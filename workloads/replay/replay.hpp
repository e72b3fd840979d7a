// replay makes the calls of a recorded application with the allocator of the cell (docs/try-your-application.md).
//
// Each kernel of the trace is launched, and each thread makes its calls in the recorded order, with no other work
// between them. If a thread frees a block that another thread of the same kernel allocates, the kernel is split there,
// so no thread waits for another. Mallocs that were refused during the recording are left out. If the allocator refuses
// a malloc of the replay, the malloc and its free count as operations, but the free is not executed.
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
