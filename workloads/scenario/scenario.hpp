// scenario runs kernel after kernel with one kind of request, while a share of the pool is free.
//
// Paper: Pham et al. 2025, section 2.2 (figure 2: five kernels that Ouroboros runs a hundred times, from a fresh pool)
// and section 5.2.3 (figure 14: seven scenarios at a given share of free memory).
//
// Every kernel requests the same sizes. If a kernel only allocates, nothing is freed until all kernels have run, so no
// allocator reuses freed blocks.
//
// The share refers to what the allocator can serve. Before the first sample the workload counts how many blocks of
// `occupant_bytes()` fill the pool. Before each sample the allocator's own malloc takes so many of these blocks,
// untimed, that the share is left. If the heap is reset before each sample, the rest of the pool is as new.
#pragma once

#include "workloads/scenario/request_scenarios.hpp"
#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Scenario {
  struct Parameters : CallerParameters {
    std::string scenario = "alloc_4096";
    std::uint32_t launches = 1;
    double free_share = 1;

    Parameters() {
      threads = 5'000;
      threads_per_block = 32;
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads of a kernel, one request each", "Pham et al. 2025, figs. 2 and 14"),
          std::tuple{
              Field{"scenario", &P::scenario, "",
                    "what each thread does: alloc_N asks for N bytes, alloc_mixed for 4 to 8,192, alloc_free_N frees "
                    "its block at once",
                    "Pham et al. 2025, figs. 2 and 14"}
                  .one_of(request_scenario_names()),
              Field{"launches", &P::launches, "launches", "kernels of a sample, timed together",
                    "Pham et al. 2025, fig. 2: 100"}
                  .between(1, 10'000),
              Field{"free_share", &P::free_share, "fraction",
                    "share of what the allocator can serve that is free before", "Pham et al. 2025, fig. 14"}
                  .between(0, 1)});
    }

    RequestScenario requests() const { return request_scenario(scenario); }
    bool takes_before() const { return free_share < 1; }
    std::uint64_t occupants_at_most(std::size_t pool_bytes) const {
      return takes_before() ? pool_bytes / requests().occupant_bytes() : 0;
    }
  };

  static constexpr WorkloadTraits traits{.name = "scenario",
                                         .display_name = "Request Scenarios",
                                         .paper = "Pham et al. 2025, secs. 2.2 and 5.2.3",
                                         .summary = "kernels of one kind of request while a share of the pool is free",
                                         .phases = "total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
