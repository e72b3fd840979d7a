// streams runs several kernels at once on one heap, each on its own stream.
//
// In phase `streams` all kernels run at once. In phase `one_stream` the same kernels run one after the other, with as
// many blocks in use at the start. The ratio of the two times shows how much faster or slower the kernels are when they
// run at once. A kernel's role is to allocate, to free the blocks of an earlier kernel, or both. No kernel waits for
// another, because nothing guarantees that both are resident.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Streams {
  struct Parameters : CallerParameters {
    std::uint32_t kernels = 4;
    std::string roles = "mixed";
    std::uint64_t request_bytes = 64;

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads of each kernel that call", "assumed"),
          std::tuple{
              Field{"kernels", &P::kernels, "kernels", "kernels at once, each on its stream", "assumed"}.between(2, 16),
              Field{"roles", &P::roles, "",
                    "what kernels do: allocate, free what an earlier kernel made, both, or mixed (one role after "
                    "the other)",
                    "assumed"}
                  .one_of({"allocate", "free", "both", "mixed"}),
              Field{"request_bytes", &P::request_bytes, "B", "size of a request", "assumed"}.between(1, 1ull << 40)});
    }
  };
  static constexpr WorkloadTraits traits{.name = "streams",
                                         .display_name = "Several Streams",
                                         .paper = "none: kernels of several streams share a heap",
                                         .summary = "kernels of several streams allocate and free at once on one heap",
                                         .phases = "streams one_stream"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
