// get_page measures page requests and frees at a given share of free pages.
//
// Paper: Pham et al. 2025, sections 5.1 and 5.2, the getPage and freePage unit tests (figures 11 to 13 and 16).
//
// Each sample first puts pages into use, untimed, until `free_share` of all pages is free
// (workloads/support/occupancy/occupancy.hpp). Then N threads, `lanes_per_warp` of each warp, request one page each in
// one kernel and free it in the next. Nothing is freed while pages are requested, so N served requests reduce the free
// pages by N. Requests that the allocator refuses are counted.
//
// With `cycles` the kernels also read the clock around every call. The mean of the cycles per operation is then a
// counter of the sample, and the time includes the reads.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct GetPage {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 256;
    double free_share = 0.5;
    std::string pattern = "uniform";
    std::uint32_t cluster_pages = 1;
    bool held = false;
    bool cycles = false;

    Parameters() {
      threads = 5'000;
      threads_per_block = 32;  // as in the authors' public code
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that request a page, one each", "Pham et al. 2025, fig. 11: of a million pages"),
          std::tuple{
              Field{"request_bytes", &P::request_bytes, "B", "size of every request, at most a page of the allocator",
                    "Pham et al. 2025, sec. 5.2"}
                  .between(1, 1ull << 40),
              Field{"free_share", &P::free_share, "fraction", "share of the pages that is free before the requests",
                    "Pham et al. 2025, fig. 11: 50, 10, 1 and 0.5 %"}
                  .between(0, 1),
              Field{"pattern", &P::pattern, "",
                    "where the pages in use lie: uniform (at random), first_fit (in front), self_filled (where the "
                    "allocator's malloc put them)",
                    "assumed: the paper presets some pages"}
                  .one_of({"uniform", "first_fit", "self_filled"}),
              Field{"cluster_pages", &P::cluster_pages, "pages",
                    "uniform pattern: groups of so many neighbouring pages are in use or free together",
                    "Pham et al. 2025, sec. 4.2: clusters of free pages, as a share of them; assumed: equal sizes"}
                  .between(1, 1 << 16)
                  .powers_of_two(),
              Field{"held", &P::held, "",
                    "every caller first takes a page and holds it; free_share is the share that is free after that",
                    "Pham et al. 2025, sec. 4.2: CRW starts beside the page a thread took last"},
              Field{"cycles", &P::cycles, "", "read the clock around every call", "Pham et al. 2025, fig. 16"}});
    }
  };

  static constexpr WorkloadTraits traits{.name = "get_page",
                                         .display_name = "GetPage, FreePage",
                                         .paper = "Pham et al. 2025, secs. 5.1 and 5.2",
                                         .summary =
                                             "one kernel of page requests at a given share of free pages, then one "
                                             "of their frees",
                                         .phases = "alloc free",
                                         .null_expected = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
