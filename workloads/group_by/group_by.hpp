// group_by groups keys by repeated radix splits, whose buckets are lists of pages from the allocator.
//
// Paper: Pham et al. 2025, sec. 6.2, fig. 18 and appendix C.
//
// Each of four passes uses one byte of the key, the most significant byte first. A pass splits every list of the
// previous pass into up to 256 lists and frees the pages of the old lists. After the last pass, every list is a group.
//
// `method` has four values:
// * `tails`: Lists get their pages as in the paper (group_by/tails_kernels.hpp).
// * `runs`: A block requests all pages of a tile at once (group_by/runs_kernel.hpp).
// * `counts`: Each pass reads the records twice, to count and to write (counted_splits.hpp). It needs no allocator.
// * `sort`: A library sorts by key and encodes the runs. It needs no allocator.
//
// Phases:
// * `pass1` to `pass4`: With `tails` and `runs`, each includes the frees of the pages that it has read, and the host's
//   read of the number of lists.
// * `total`: This is the sum of the four passes, or the only phase with method `sort`.
// * `free`: This phase frees the pages of the groups.
//
// Before each sample of `tails` or `runs`, the workload takes pages until the share `free_share` of all pages is free
// (workloads/support/occupancy/pre_occupation.hpp). After every sample without nulls, the groups are compared with the
// host's. Inputs of `tails` and `runs` with up to 65,536 keys are compared row by row, and all others by digests of 128
// bits.
//
// With `frees` early, as in the paper, a warp or block frees a page immediately after reading it, while others still
// allocate. With `frees` after, a kernel frees these pages at the end of the pass. With `table_bytes` the table of
// every long list is a block of the allocator, too. This adds a second request size. Without it, tables are the
// workload's own memory.
//
// Differs from the paper: Only long lists have tables (group_by/lists.hpp).
#pragma once

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/occupancy/page_parameters.hpp"

namespace allocbench {

enum class GroupMethod { tails, runs, counts, sort };

struct GroupBy {
  struct Parameters : PageParameters {
    std::uint32_t keys = 10'000;
    std::string input = "gauss";
    double exponent = 1;
    std::string method = "tails";
    std::string frees = "after";
    std::uint32_t table_bytes = 0;

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          std::tuple{Field{"keys", &P::keys, "keys", "32-bit keys to group, with a row number each",
                           "Pham et al. 2025, fig. 18: up to 10 million"}
                         .between(1, 1 << 28)},
          page_fields<P>(4096, "Pham et al. 2025, fig. 18: 50 and 5 %"),
          std::tuple{
              Field{"input", &P::input, "",
                    "gauss: sigma 2^28; gauss_narrow: 2^20; few: this in steps of 2^12; uniform; zipf; one: a single "
                    "key",
                    "Pham et al. 2025, sec. 6.2: Gaussian; assumed: its sigma and the others"}
                  .one_of({"gauss", "gauss_narrow", "few", "uniform", "zipf", "one"}),
              Field{"exponent", &P::exponent, "", "exponent of the distribution (input = zipf)", "assumed"}.between(0,
                                                                                                                    4),
              Field{"method", &P::method, "",
                    "tails: a thread appends to the last page of a list; runs: a block asks for all its pages at once; "
                    "counts: a kernel counts, a second one writes, without pages; sort: radix sort and run-length "
                    "encoding, without pages",
                    "Pham et al. 2025, appendix C; sec. 6.2: counts; assumed: runs and sort, to compare with"}
                  .one_of({"tails", "runs", "counts", "sort"}),
              Field{
                  "frees", &P::frees, "",
                  "early: pages are freed as soon as their records were read; after: by a kernel at the end of a pass",
                  "Pham et al. 2025, sec. 6.2: early; assumed: after, which keeps two passes in use"}
                  .one_of({"after", "early"}),
              Field{"table_bytes", &P::table_bytes, "B",
                    "request for the table of each long list: 256 tails of 16 B at least; 0: no request",
                    "Pham et al. 2025, appendix C: head, tail and count of 256 lists are 6,144 B"}
                  .between(0, 1 << 16)});
    }

    GroupMethod group_method() const {
      return method == "tails"    ? GroupMethod::tails
             : method == "runs"   ? GroupMethod::runs
             : method == "counts" ? GroupMethod::counts
                                  : GroupMethod::sort;
    }
    bool uses_pages() const { return method == "tails" || method == "runs"; }
    bool early_frees() const { return frees == "early"; }
  };

  static constexpr WorkloadTraits traits{.name = "group_by",
                                         .display_name = "Group-By",
                                         .paper = "Pham et al. 2025, sec. 6.2",
                                         .summary = "four radix splits of keys into lists of pages",
                                         .phases = "pass1 pass2 pass3 pass4 total free",
                                         .writes_blocks = true,
                                         .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
