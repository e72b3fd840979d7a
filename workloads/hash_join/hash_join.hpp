// hash_join is a radix hash join that by default writes its result in one pass, into pages from the allocator.
//
// Paper: Pham et al. 2025, sec. 6.1, fig. 17 and appendix B. The join is that of Rui & Tu, SSDBM 2017.
//
// The size of a join's result is not known in advance. Without an allocator, the probe runs twice, first to count and
// then to write. With an allocator, a thread writes its matches to its own page and requests another page when this one
// is full (containers/page_writer.hpp).
//
// Phases:
// * `partition`: The workload orders both tables by hash, without the allocator.
// * `build_probe`: The workload joins the tables.
// * `read_back`: The workload copies the result from the pages to an array.
// * `free`: The workload frees the pages.
// * `total`: This is the sum of `partition` and `build_probe`, as in the paper.
//
// With `output` two_pass the probe runs twice and uses no pages. This is the baseline. With `lists` warp the lanes of a
// warp append to one chain of pages (containers/warp_page_writer.hpp). The paper has no such lists.
//
// Before each sample with pages, the workload takes pages until the share `free_share` of all pages is free
// (workloads/support/occupancy/pre_occupation.hpp). After every sample without nulls, the pairs are compared with the
// host's: exactly for tables of up to 65,536 tuples, and by digests of 128 bits for larger tables.
#pragma once

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/occupancy/page_parameters.hpp"

namespace allocbench {

struct HashJoin {
  struct Parameters : PageParameters {
    std::uint32_t tuples = 1 << 14;
    std::uint32_t tuples_per_thread = 8;
    std::uint32_t threads_per_block = 128;
    std::string input = "fk";
    double exponent = 0.75;
    std::string output = "pages";
    std::string lists = "thread";

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          std::tuple{
              Field{"tuples", &P::tuples, "tuples", "tuples of each of the two tables",
                    "Pham et al. 2025, fig. 17: 16K to 64M"}
                  .between(2, 1 << 28),
              Field{"tuples_per_thread", &P::tuples_per_thread, "tuples",
                    "tuples of the probing table that a thread takes, on average",
                    "assumed; the paper has about as many threads as tuples"}
                  .between(1, 1024),
              Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "assumed"}.between(
                  simt::warp_size, most_threads_per_block)},
          page_fields<P>(1 << 20, "Pham et al. 2025, fig. 17: 50 and 5 %"),
          std::tuple{
              Field{"input", &P::input, "",
                    "matches of a tuple: fk: one; dup: two; sel: one for every 16th tuple; skew: one, Zipf-distributed",
                    "assumed: the paper does not say"}
                  .one_of({"fk", "dup", "sel", "skew"}),
              Field{"exponent", &P::exponent, "", "exponent of the distribution (input = skew)", "assumed"}.between(0,
                                                                                                                    4),
              Field{"output", &P::output, "",
                    "pages: one pass into pages from the allocator; two_pass: count, prefix sum and write, "
                    "without it",
                    "Pham et al. 2025, appendix B"}
                  .one_of({"pages", "two_pass"}),
              Field{"lists", &P::lists, "",
                    "thread: every thread has pages of its own; warp: the lanes of a warp share them (output = pages)",
                    "Pham et al. 2025, appendix B; assumed: warp, which is not in the paper"}
                  .one_of({"thread", "warp"})});
    }

    bool uses_pages() const { return output == "pages"; }
    bool warp_lists() const { return lists == "warp"; }
    std::uint32_t threads_per_list() const { return warp_lists() ? simt::warp_size : 1; }
  };

  static constexpr WorkloadTraits traits{
      .name = "hash_join",
      .display_name = "Hash Join",
      .paper = "Pham et al. 2025, sec. 6.1",
      .summary = "a radix hash join whose threads write matches to pages of their own",
      .phases = "partition build_probe read_back free total",
      .writes_blocks = true,
      .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
