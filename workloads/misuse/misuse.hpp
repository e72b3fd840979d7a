// misuse tests how an allocator handles calls that programs should not make, or make by mistake.
//
// Each `call` is a separate cell, so a design that crashes or hangs loses only that cell. The status is the result.
// Some blocks are in use before the call, and others are allocated after it. `ok` means that the call had the specified
// result and that all these blocks are correct.
//
// * `malloc_zero`: A malloc of 0 bytes returns null or a unique block, as the traits declare.
// * `free_null`: A free of null has no effect. Every second call frees a block instead.
// * `absurd_size`: The malloc returns null. The sizes go from a byte more than the pool to 2^64 - 1, and one of them is
//   64 modulo 2^32.
// * `double_free`: The adaptor Checked detects the second free of each block and does not pass it to the allocator.
// * `refused_calls`: The adaptor Failing refuses each malloc with a probability of 1/2, so only some lanes of a warp
//   call the allocator. The other lanes free null.
//
// Callers hold blocks during every call, so a design that frees in bulk frees memory only at the end of a sample.
#pragma once

#include <array>

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Misuse {
  static constexpr std::array<const char*, 5> calls{"malloc_zero", "free_null", "absurd_size", "double_free",
                                                    "refused_calls"};

  struct Parameters : CallerParameters {
    std::string call = "malloc_zero";
    std::uint64_t request_bytes = 64;

    Parameters() { threads = 1024; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(caller_fields<P>("threads that make the call", "assumed"),
                            std::tuple{Field{"call", &P::call, "", "what is called", "assumed: no study asks"}.one_of(
                                           {calls.begin(), calls.end()}),
                                       Field{"request_bytes", &P::request_bytes, "B",
                                             "size of the blocks in use before and after", "assumed"}
                                           .between(4, 1ull << 40)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "misuse",
                                         .display_name = "Misuse",
                                         .paper = "assumed: no study asks",
                                         .summary = "malloc(0), free(null), absurd sizes, double frees: graded",
                                         .phases = "total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

// Returns sizes for which no pool of `pool_bytes` has room.
std::vector<std::uint64_t> absurd_sizes(std::uint64_t pool_bytes);

}  // namespace allocbench
