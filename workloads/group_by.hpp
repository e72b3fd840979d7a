// group_by: keys are grouped by repeated radix splits, whose buckets are lists of pages from the allocator.
//
// Pham et al. 2025, sec. 6.2, fig. 18 and appendix C. Four passes look at a byte of the key each, from the most
// significant one on. A pass splits every list of the pass before into up to 256 lists and then frees its pages; after
// the last one every list is a group. `method` says how lists get their pages (group/split_kernels.hpp): tails, as
// published, runs, or sort, which is no split at all but CUB's radix sort and run-length encoding: what a program would
// do without an allocator.
//
// Phases: `pass1` to `pass4`, each with the frees of the pages it split and the host's look at the number of lists;
// `total`, their sum; `free`, of the groups. The groups are compared with the host's after every sample, row by row for
// small inputs, by digests of 128 bits for large ones. Before each sample pages are put into use until `free_share` is
// left (workloads/common/pre_occupation.hpp).
//
// Differs from the paper: a list has no table of its own unless it is long (group/lists.hpp); pages of a pass are freed
// at its end, not while it runs; tables and lists are the workload's own memory, so that all requests have one size.
#pragma once

#include "workloads/common/pre_occupation.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/group/group_steps.hpp"

namespace allocbench {

struct GroupBy {
  struct Parameters {
    std::uint32_t keys = 10'000;
    std::uint64_t page_bytes = 256;
    double free_share = 0.5;
    std::string input = "gauss";
    double exponent = 1;
    std::string method = "tails";

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"keys", &P::keys, "keys", "32-bit keys to group, with a row number each",
                "Pham et al. 2025, fig. 18: up to 10 million"}
              .between(1, 1 << 28),
          Field{"page_bytes", &P::page_bytes, "B", "size of every page, 16 bytes of header included",
                "assumed: 256, as in the paper's unit tests"}
              .between(32, 4096),
          Field{"free_share", &P::free_share, "fraction", "share of the pages that is free before",
                "Pham et al. 2025, fig. 18: 50 and 5 %"}
              .between(0, 1),
          Field{"input", &P::input, "",
                "gauss: sigma 2^28; gauss_narrow: 2^20; few: this in steps of 2^12; uniform; zipf; one: a single key",
                "Pham et al. 2025, sec. 6.2: Gaussian; assumed: its sigma and the others"}
              .one_of({"gauss", "gauss_narrow", "few", "uniform", "zipf", "one"}),
          Field{"exponent", &P::exponent, "", "exponent of the distribution (input = zipf)", "assumed"}.between(0, 4),
          Field{"method", &P::method, "",
                "tails: a thread appends to the last page of a list; runs: a block asks for all its pages at once; "
                "sort: radix sort and run-length encoding, without pages",
                "Pham et al. 2025, appendix C; assumed: the other two, to compare with"}
              .one_of({"tails", "runs", "sort"})};
    }

    GroupMethod group_method() const {
      return method == "tails" ? GroupMethod::tails : method == "runs" ? GroupMethod::runs : GroupMethod::sort;
    }
    bool uses_pages() const { return method != "sort"; }
  };

  static constexpr WorkloadTraits traits{.name = "group_by",
                                         .display_name = "Group-By",
                                         .paper = "Pham et al. 2025, sec. 6.2",
                                         .summary = "four radix splits of keys into lists of pages",
                                         .phases = "pass1 pass2 pass3 pass4 total free",
                                         .writes_blocks = true,
                                         .application = true};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (!p.uses_pages()) return {};
    if (A::traits.frees == Frees::in_bulk) {
      return std::string(A::traits.display_name) + " frees all blocks of a session at once; pages here outlive threads";
    }
    const std::string occupied = PreOccupation<A>::unsupported(setting, p.page_bytes, p.free_share);
    if (!occupied.empty()) return occupied;
    // At the worst every record has a page of its own in two successive passes, or in all four where nothing is freed.
    const std::uint64_t most_pages = std::uint64_t{A::traits.frees == Frees::never ? 4u : 2u} * p.keys;
    const auto in_use = static_cast<std::uint64_t>(static_cast<double>(setting.pool_bytes) * (1 - p.free_share));
    const std::string recycled = why_recycling<A>(in_use + most_pages * p.page_bytes, setting);
    if (!recycled.empty()) return recycled;
    // Lanes need pages at different times.
    return why_unsupported<A>(Geometry::of_callers(p.keys, group::block_threads, 1), p.page_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          steps_(stream, {parameters.input, parameters.keys, parameters.exponent, setting.seed}, parameters.page_bytes,
                 parameters.group_method()),
          occupation_(setting, parameters.page_bytes, parameters.uses_pages() ? parameters.free_share : 1, stream),
          tail_blocks_(2 * stream.device().properties().sm_count) {}

    void prepare() { steps_.prepare(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      if (!parameters_.uses_pages()) {
        timer.phase("total", 0, [&] { steps_.sort_and_encode(); });
        return;
      }
      occupation_.enter(allocator);
      static constexpr std::string_view names[] = {"pass1", "pass2", "pass3", "pass4"};
      const bool counted = parameters_.group_method() == GroupMethod::tails;  // as the host has foreseen
      bool whole = true;
      std::uint64_t frees = 0;
      for (std::uint32_t pass = 0; pass < 4 && whole; ++pass) {
        const std::uint64_t mallocs = counted ? steps_.expected().pages[pass] : 0;
        timer.phase(names[pass], mallocs + frees, [&] { whole = split(allocator, pass); });
        frees = mallocs;
      }
      steps_.read_lists();
      timer.phase("free", frees, [&] { free_lists(allocator, steps_.last()); });
      occupation_.leave(allocator);
      if (!whole) return;
      timer.sum("total", {names[0], names[1], names[2], names[3]});
      if (counted) {
        const std::uint64_t* const pages = steps_.expected().pages;
        timer.counter("mallocs", pages[0] + pages[1] + pages[2] + pages[3]);
      }
    }

    void check_recorded(PointerCheck& check) const {
      check.check(steps_.page_blocks(), PointerCheck::Live::together);
      if (!check.ok() || check.nulls() != 0) return;
      const std::string problem = steps_.problem();
      if (!problem.empty()) throw CellFailure(Status::incorrect, "wrong groups: " + problem);
    }

    RequestProfile requests() const {
      return {Geometry::of_callers(std::min(parameters_.keys, 1u << 20), group::block_threads, simt::warp_size),
              RequestSizes::fixed(parameters_.page_bytes)};
    }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{4} * parameters_.keys; }

    std::vector<KernelInfo> kernels() const {
      using namespace group;
      return {
          {"pass1",
           tails() ? simt::kernel_attributes<LongTailsKernel, A, LongInput, Tail*, PageFormat, Directory, PageFaults*>()
                   : simt::kernel_attributes<RunsKernel, A, RunsInput, Tail*, std::uint32_t, PageFormat, Lists,
                                             PageFaults*>()},
          {"pass4", simt::kernel_attributes<ShortKernel, A, const List*, std::uint32_t, std::uint32_t, PageFormat,
                                            Lists, PageFaults*>()}};
    }

   private:
    bool tails() const { return parameters_.group_method() == GroupMethod::tails; }

    static simt::LaunchShape grid(std::uint32_t blocks, std::size_t shared_bytes = 0) {
      constexpr std::uint32_t most_blocks_of_pass = 1 << 16;
      return {std::min(blocks, most_blocks_of_pass), group::block_threads, shared_bytes};
    }

    // One pass; false when memory ran out.
    bool split(const A& allocator, std::uint32_t pass) {
      using namespace group;
      const GroupPass work = steps_.begin_pass(pass);
      const PageFormat format = steps_.format();
      const std::size_t runs_shared = RunsKernel::shared_bytes(format);
      if (work.longs != 0 && tails()) {
        const std::uint32_t blocks = std::min((work.long_input.items - 1) / block_warps + 1, tail_blocks_);
        simt::launch(stream_, grid(blocks), LongTailsKernel{}, allocator, work.long_input, steps_.tails(), format,
                     steps_.made().directory, steps_.faults());
      } else if (work.longs != 0) {
        simt::launch(stream_, grid(work.tiles.count, runs_shared), RunsKernel{}, allocator, work.tiles, steps_.tails(),
                     pass, format, steps_.made(), steps_.faults());
      }
      const List* const mediums = work.lists.mediums;
      if (work.mediums != 0 && tails()) {
        simt::launch(stream_, grid(work.mediums, sizeof(MediumTailsKernel::Shared)), MediumTailsKernel{}, allocator,
                     mediums, work.mediums, pass, format, steps_.made(), steps_.faults());
      } else if (work.mediums != 0) {
        simt::launch(stream_, grid(work.mediums, runs_shared), RunsKernel{}, allocator,
                     RunsInput{mediums, nullptr, work.mediums, {}}, steps_.tails(), pass, format, steps_.made(),
                     steps_.faults());
      }
      if (work.shorts != 0) {
        const List* const shorts = work.lists.shorts;
        simt::launch(stream_, grid((work.shorts - 1) / block_threads + 1), ShortKernel{}, allocator, shorts,
                     work.shorts, pass, format, steps_.made(), steps_.faults());
      }
      steps_.collect();
      free_lists(allocator, work);
      return steps_.end_pass();
    }

    void free_lists(const A& allocator, const GroupPass& work) {
      const std::uint32_t most = std::max({work.shorts, work.mediums, work.entries});
      if (most == 0) return;
      simt::launch(stream_, grid((most - 1) / group::block_threads + 1), group::FreeListsKernel{}, allocator,
                   work.lists, work.shorts, work.mediums, work.entries);
    }

    simt::Stream& stream_;
    Parameters parameters_;
    GroupSteps steps_;
    PreOccupation<A> occupation_;
    // Two blocks per multiprocessor: a few thousand records in flight keep all tails busy, and more warps only wait for
    // pages and slow those down that bring them.
    std::uint32_t tail_blocks_;
  };
};

}  // namespace allocbench
