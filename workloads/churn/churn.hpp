// churn replaces random blocks of a live set in many rounds. The set has a constant number of places. The workload
// shows how the heap fragments over time.
//
// First, blocks that take about `live_share` of the pool are allocated. In every round the host draws as many places of
// the set as there are threads. One kernel frees the blocks of these places, and the next kernel allocates new blocks
// for them. The new sizes are random unless all sizes are equal. A request that returns null is counted and leaves its
// place empty until the place is drawn again.
//
// After the last round the heap is examined:
// * `range_per_live` is the distance between the first and the last byte in use, divided by the bytes in use. Unlike
//   the address range of Winter et al., PPoPP'21, fig. 11.a, it covers only blocks in use together.
// * `largest_free_request` is the largest single request that the heap serves at this point, found in steps of an
//   eighth of a power of two.
// * `lost_share` is the part of the pool that neither the live set nor further blocks get. To measure it, requests of
//   the same sizes follow until one is refused. The part includes rounding and memory that is reserved for other sizes.
//
// Winter et al. use 100 rounds and keep no block over several rounds.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct Churn {
  struct Parameters : CallerParameters, SizeParameters {
    double live_share = 0.5;
    std::uint32_t rounds = 100;

    Parameters() {
      threads = 8192;
      sizes = "uniform";
      min_bytes = 16;
      max_bytes = 1024;
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(caller_fields<P>("threads, and blocks that are renewed in a round", "assumed"),
                            size_fields<P>(),
                            std::tuple{Field{"live_share", &P::live_share, "",
                                             "share of the pool that is asked for before the first round", "assumed"}
                                           .between(0, 1),
                                       Field{"rounds", &P::rounds, "rounds", "rounds in which blocks are renewed",
                                             "Winter et al., PPoPP'21, fig. 11.a: 100"}
                                           .between(1, 1'000'000)});
    }

    // Returns the number of whole rows of `threads` requests that fit into `share` of the pool, but at least 1. The
    // bytes of each request are rounded up to a multiple of 16.
    std::uint64_t rows(std::size_t pool_bytes, double share) const;
  };

  static constexpr WorkloadTraits traits{
      .name = "churn",
      .display_name = "Churn",
      .paper = "assumed; Winter et al., PPoPP'21, fig. 11.a: address ranges",
      .summary = "a live set renewed block by block at random: fragmentation over time",
      .phases = "alloc free",
      .null_expected = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
