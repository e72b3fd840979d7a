// recovery measures which requests a heap serves after it was full. First, blocks of one size are allocated in rounds
// until a round has a null. Then a share of them is freed. Finally, blocks of the same or a larger size are allocated
// in the same way.
//
// With `freed_share` 1 and `growth` 1 the workload shows whether an exhausted heap is like a new one after all frees.
// With 0.5 and 2 the workload shows whether larger blocks can use the memory of scattered free blocks. `usable_share`
// is the share of the pool that the first requests got. `recovered_share` is the number of bytes that the later
// requests got, divided by the freed bytes. The times of `fill` and `again` include the host's check of each round.
//
// No paper is reproduced here. The out-of-memory test of Winter et al., PPoPP'21, fig. 11.b, ends at the first
// null.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Recovery {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 64;
    double freed_share = 1;
    std::uint32_t growth = 1;

    Parameters() { threads = 8192; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads of a round, one request each", "assumed"),
          std::tuple{
              Field{"request_bytes", &P::request_bytes, "B", "size of the requests that fill the pool", "assumed"}
                  .between(1, 1ull << 40),
              Field{"freed_share", &P::freed_share, "", "share of the blocks that is freed, drawn from the seed",
                    "assumed"}
                  .between(0, 1),
              Field{"growth", &P::growth, "", "size of the later requests, in sizes of the first", "assumed"}.between(
                  1, 1 << 20)});
    }

    std::uint64_t later_bytes() const { return request_bytes * growth; }
  };

  static constexpr WorkloadTraits traits{.name = "recovery",
                                         .display_name = "Recovery",
                                         .paper = "assumed: no study asks; Winter et al., PPoPP'21, fig. 11.b fills",
                                         .summary = "fill the pool, free some or all of it, fill it again",
                                         .phases = "fill free again",
                                         .null_expected = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
