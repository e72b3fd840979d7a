// In two_phase, every thread that takes part allocates and then frees, in two kernels (spree) or repeatedly in one
// (private).
//
// Paper: Adinetz & Pleiter 2014, "Benchmark Parameters & Cases".
//
// The workload has two further parameters of the paper: several allocations per thread, and the branch divergence. The
// paper says only "per thread, per warp, per block" of the divergence. In two_phase a unit takes part as a whole, with
// probability `share`. The expected number of calls is the same for each kind of unit. With `thread`, each lane decides
// for itself. With `warp` or `block`, either all callers of a warp or block call, or none of them calls.
//
// With one allocation, one cycle and 8 written bytes the private mode is MilThreads (Huang et al. 2010, sec. VI).
// `total_requests` keeps the number of mallocs constant, up to rounding, while `threads` is swept (fig. 8 there).
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/draw_unit.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct TwoPhase {
  struct Parameters : CallerParameters, SizeParameters {
    std::string mode = "spree";
    std::uint32_t allocations = 1;
    std::uint32_t cycles = 1;
    std::uint64_t total_requests = 0;
    std::uint32_t write_bytes = 0;
    std::string divergence = "warp";
    double share = 1;

    static auto fields() {
      using P = Parameters;
      const char* const slides = "Adinetz & Pleiter 2014, benchmark parameters";
      return std::tuple_cat(
          caller_fields<P>("threads that may call the allocator", slides),
          std::tuple{
              Field{"mode", &P::mode, "",
                    "spree: a kernel of mallocs, then a kernel of frees; private: both in one kernel, cycles times",
                    slides}
                  .one_of({"spree", "private"}),
              Field{"allocations", &P::allocations, "blocks", "blocks that a thread holds together", slides}.between(
                  1, 1 << 16),
              Field{"cycles", &P::cycles, "cycles",
                    "times that a thread allocates and frees its blocks (mode = private)", slides}
                  .between(1, 1 << 24),
              Field{"total_requests", &P::total_requests, "requests",
                    "mallocs of all threads together; sets allocations (spree) or cycles (private). "
                    "0: both as given",
                    "Huang et al. 2010, fig. 8"}
                  .between(0, 1 << 27),
              Field{"write_bytes", &P::write_bytes, "B",
                    "bytes at the start of each block that its owner writes, in words of 4 (mode = private)",
                    "Huang et al. 2010, sec. VI"}
                  .between(0, 1 << 20),
              Field{"divergence", &P::divergence, "", "unit that takes part or not as a whole", slides}.one_of(
                  {draw_unit_words[0], draw_unit_words[1], draw_unit_words[2]}),
              Field{"share", &P::share, "", "probability that it takes part", "assumed: all do"}.between(0, 1)},
          size_fields<P>());
    }

    bool is_private() const { return mode == "private"; }
    // Returns the number of blocks that a thread holds at the same time.
    std::uint64_t blocks_per_thread() const {
      return is_private() || total_requests == 0 ? allocations : (total_requests + threads - 1) / threads;
    }
    std::uint64_t cycles_of_thread() const {
      if (!is_private()) return 1;
      return total_requests == 0 ? cycles : (total_requests + live_blocks() - 1) / live_blocks();
    }
    // Returns the number of blocks that all threads hold at the same time if all take part.
    std::uint64_t live_blocks() const { return threads * blocks_per_thread(); }
  };

  static constexpr WorkloadTraits traits{
      .name = "two_phase",
      .display_name = "Two-Phase",
      .paper = "Adinetz & Pleiter 2014, benchmark cases; Huang et al. 2010, sec. VI [MilThreads]",
      .summary = "every thread allocates, then frees: in two kernels (phases alloc and free) or in one (phase total)",
      .phases = "alloc free total"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
