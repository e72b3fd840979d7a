// fragmentation allocates blocks of one size until a malloc fails, and then evaluates the use of the pool.
//
// Paper: Adinetz & Pleiter 2014, "Fragmentation".
//
// The workload needs only the addresses of the blocks. It takes the median distance between neighbouring blocks of the
// full pool as the size of one block with its header and rounding.
//
//   internal_waste = 1 - requested size / median distance         (share of a block)
//   external_waste = 1 - blocks served * median distance / pool   (share of the pool that no block takes)
//
// Rounds of `threads` requests run until one of them returns null. The time of `alloc` includes the host's check of
// each round. This workload does not measure speed.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Fragmentation {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 16;

    Parameters() { threads = 8192; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(caller_fields<P>("threads of a round, one request each", "assumed"),
                            std::tuple{Field{"request_bytes", &P::request_bytes, "B", "size of every request",
                                             "Adinetz & Pleiter 2014: multiples of 8 B"}
                                           .between(1, 1ull << 40)});
    }

    // No allocator can serve more rounds, because a block takes at least the bytes requested.
    std::uint64_t rounds_at_most(std::size_t pool_bytes) const { return pool_bytes / request_bytes / threads + 1; }
  };

  static constexpr WorkloadTraits traits{.name = "fragmentation",
                                         .display_name = "Fragmentation",
                                         .paper = "Adinetz & Pleiter 2014, fragmentation",
                                         .summary = "blocks of one size until the pool is full: what was it used for?",
                                         .phases = "alloc free",
                                         .null_expected = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
