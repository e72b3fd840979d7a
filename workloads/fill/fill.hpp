// fill measures mallocs and frees while a share of the pool is already in use.
//
// Paper: Adinetz & Pleiter 2014. Halloc's hash is fast while fewer than about 85 % of the blocks are taken.
//
// Before each sample blocks of the same size take `taken_share` of the pool, untimed. Then one kernel allocates and
// another one frees. The share counts requests rounded up to multiples of 16 B. An allocator that rounds to a larger
// size is full earlier. If the pool then has no room for the timed requests, the cell gets the status `oom`.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct Fill {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 64;
    double taken_share = 0.5;

    Parameters() { threads = 10'000; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that allocate while they are timed, one request each", "assumed"),
          std::tuple{Field{"request_bytes", &P::request_bytes, "B", "size of every request, before and while timing",
                           "assumed"}
                         .between(1, 1ull << 40),
                     Field{"taken_share", &P::taken_share, "", "share of the pool that is taken before timing starts",
                           "Adinetz & Pleiter 2014, free block search"}
                         .between(0, 1)});
    }

    std::uint64_t blocks_before(std::size_t pool_bytes) const {
      return static_cast<std::uint64_t>(taken_share * static_cast<double>(pool_bytes) /
                                        static_cast<double>(pad(request_bytes, 16)));
    }
  };

  static constexpr WorkloadTraits traits{.name = "fill",
                                         .display_name = "Fill Level",
                                         .paper = "Adinetz & Pleiter 2014, free block search",
                                         .summary = "mallocs, then frees, while a share of the pool is taken",
                                         .phases = "alloc free"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
