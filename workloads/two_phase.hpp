// two_phase: every thread allocates, then frees; in two kernels (spree) or again and again in one (private).
//
// Adinetz & Pleiter 2014, "Benchmark Parameters & Cases". Their further parameters are here too: several allocations
// per thread, and the branch divergence. The slides name the divergence "per thread, per warp, per block" and no more;
// here it is the unit that takes part or stays away as a whole, with probability `share`: at the same number of calls,
// warps are then torn (thread), whole or silent (warp), or whole blocks are (block).
//
// With one allocation, one cycle and 8 written bytes the private mode is MilThreads (Huang et al. 2010, sec. VI);
// `total_requests` keeps the number of mallocs while `threads` is swept (their fig. 8).
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/draw_unit.hpp"
#include "workloads/common/probability_steps.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/several_kernels.hpp"
#include "workloads/common/size_parameters.hpp"
#include "workloads/contract/workload.hpp"

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
                    "mallocs of all threads together, from which allocations (spree) or cycles (private) follow; "
                    "0: as these say",
                    "Huang et al. 2010, fig. 8"}
                  .between(0, 1 << 27),
              Field{"write_bytes", &P::write_bytes, "B",
                    "bytes at the start of each block that its owner writes, in words of 4 (mode = private)",
                    "Huang et al. 2010, sec. VI"}
                  .between(0, 1 << 20),
              Field{"divergence", &P::divergence, "", "what takes part or stays away as a whole", slides}.one_of(
                  {draw_unit_words[0], draw_unit_words[1], draw_unit_words[2]}),
              Field{"share", &P::share, "", "probability that it takes part", "assumed: all do"}.between(0, 1)},
          size_fields<P>());
    }

    bool is_private() const { return mode == "private"; }
    // Blocks that a thread holds together, and how often it does.
    std::uint64_t blocks_per_thread() const {
      return is_private() || total_requests == 0 ? allocations : (total_requests + threads - 1) / threads;
    }
    std::uint64_t cycles_of_thread() const {
      if (!is_private()) return 1;
      return total_requests == 0 ? cycles : (total_requests + live_blocks() - 1) / live_blocks();
    }
    // Blocks that all threads hold together when all take part.
    std::uint64_t live_blocks() const { return threads * blocks_per_thread(); }
  };

  static constexpr WorkloadTraits traits{
      .name = "two_phase",
      .display_name = "Two-Phase",
      .paper = "Adinetz & Pleiter 2014, benchmark cases; Huang et al. 2010, sec. VI [MilThreads]",
      .summary = "every thread allocates, then frees: in two kernels (phases alloc and free) or in one (phase total)",
      .phases = "alloc free total"};

  // Keeps the pointer array at 1 GiB and every index in 32 bits.
  static constexpr std::uint64_t most_pointers = 1ull << 27;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (p.live_blocks() > most_pointers / p.cycles_of_thread()) {
      return std::to_string(p.live_blocks()) + " blocks in each of " + std::to_string(p.cycles_of_thread()) +
             " cycles; this workload keeps at most " + std::to_string(most_pointers) + " pointers";
    }
    if (p.write_bytes > 4 * (smallest_request(p) / 4)) {
      return "write_bytes is " + std::to_string(p.write_bytes) + ", more than the whole words of the smallest request";
    }
    if (A::traits.whole_warp_calls && p.share < 1 && p.divergence == "thread") {
      return std::string(A::traits.display_name) + " needs whole warps, which divergence per thread tears";
    }
    return why_unsupported<A>(p.geometry(), p.largest_request(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          blocks_per_thread_(static_cast<std::uint32_t>(parameters.blocks_per_thread())),
          cycles_(static_cast<std::uint32_t>(parameters.cycles_of_thread())),
          takes_part_host_(participants(setting.seed, draw_of_callers(parameters.geometry(), parameters.divergence),
                                        parameters.share)),
          takes_part_(parameters.share < 1 ? takes_part_host_.size() : 0),
          sizes_(parameters.request_sizes(static_cast<std::uint32_t>(parameters.live_blocks()), setting.seed), stream),
          results_(stream, parameters.threads, blocks_per_thread_ * cycles_) {
      if (takes_part_.size() != 0) takes_part_.from_host(stream, takes_part_host_);
    }

    void prepare() { results_.poison(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      const std::uint64_t mallocs = participating() * blocks_per_thread_ * cycles_;
      const simt::LaunchShape shape = calls().geometry.shape();
      if (parameters_.is_private()) {
        // What the checking pass has put into a block must stay there.
        const std::uint32_t written_words = std::is_same_v<Caller, A> ? parameters_.write_bytes / 4 : 0;
        timer.phase("total", 2 * mallocs, [&] {
          simt::launch(stream_, shape, CycleSeveralKernel{}, allocator, calls(), sizes_.any(), cycles_, written_words,
                       results_.data());
        });
      } else {
        timer.phase("alloc", mallocs, [&] {
          simt::launch(stream_, shape, AllocSeveralKernel{}, allocator, calls(), sizes_.any(), results_.data());
        });
        timer.phase("free", mallocs,
                    [&] { simt::launch(stream_, shape, FreeSeveralKernel{}, allocator, calls(), results_.data()); });
      }
      timer.counter("requested_bytes", requested_bytes());
    }

    void check_recorded(PointerCheck& check) const {
      const std::uint64_t live = parameters_.live_blocks();
      std::vector<RecordedBlock> recorded = results_.blocks([](std::size_t) { return std::uint64_t{0}; });
      std::erase_if(recorded, [&](const RecordedBlock& block) {
        return !takes_part_host_[block.request % live % parameters_.threads];
      });
      for (RecordedBlock& block : recorded) block.bytes = sizes_.host()[block.request % live];
      if (!parameters_.is_private()) {
        check.check(recorded, PointerCheck::Live::together);
        return;
      }
      check.check(recorded, PointerCheck::Live::separately);
      if (blocks_per_thread_ > 1) check_sets(check, recorded);
    }

    RequestProfile requests() const {
      const auto blocks = static_cast<std::uint32_t>(parameters_.live_blocks());
      return {Geometry::of_callers(blocks, parameters_.threads_per_block, parameters_.lanes_per_warp), sizes_.host()};
    }
    std::uint64_t mallocs_at_most() const { return parameters_.live_blocks() * cycles_; }

    std::vector<KernelInfo> kernels() const {
      if (parameters_.is_private()) {
        return {{"total", simt::kernel_attributes<CycleSeveralKernel, A, SeveralCalls, AnySize, std::uint32_t,
                                                  std::uint32_t, void**>()}};
      }
      return {{"alloc", simt::kernel_attributes<AllocSeveralKernel, A, SeveralCalls, AnySize, void**>()},
              {"free", simt::kernel_attributes<FreeSeveralKernel, A, SeveralCalls, void**>()}};
    }

   private:
    SeveralCalls calls() const {
      return {parameters_.geometry(), blocks_per_thread_, takes_part_.size() == 0 ? nullptr : takes_part_.data()};
    }
    std::uint64_t participating() const {
      return static_cast<std::uint64_t>(std::count(takes_part_host_.begin(), takes_part_host_.end(), 1));
    }

    // Bytes that the mallocs of a sample ask for.
    std::uint64_t requested_bytes() const {
      if (sizes_.host().is_fixed()) {
        return participating() * blocks_per_thread_ * cycles_ * sizes_.host().fixed_bytes();
      }
      std::uint64_t bytes = 0;
      for (std::uint64_t slot = 0; slot < parameters_.live_blocks(); ++slot) {
        if (takes_part_host_[slot % parameters_.threads]) bytes += sizes_.host()[slot];
      }
      return bytes * cycles_;
    }

    // The blocks of one thread and cycle are live together; other threads may have freed theirs.
    void check_sets(PointerCheck& check, std::vector<RecordedBlock>& recorded) const {
      const auto set_of = [&](const RecordedBlock& block) {
        return std::pair{block.request % parameters_.threads, block.request / parameters_.live_blocks()};
      };
      std::sort(recorded.begin(), recorded.end(),
                [&](const RecordedBlock& a, const RecordedBlock& b) { return set_of(a) < set_of(b); });
      for (auto first = recorded.begin(); first != recorded.end(); first += blocks_per_thread_) {
        check.check_overlap_only({first, first + blocks_per_thread_});
      }
    }

    simt::Stream& stream_;
    Parameters parameters_;
    std::uint32_t blocks_per_thread_;
    std::uint32_t cycles_;
    std::vector<std::uint8_t> takes_part_host_;
    simt::Buffer<std::uint8_t> takes_part_;  // empty when all do
    DeviceSizes sizes_;
    RecordedPointers results_;
  };

 private:
  static std::uint64_t smallest_request(const Parameters& p) {
    if (p.sizes == "uniform") return p.min_bytes;
    if (p.sizes == "list" && !p.list_bytes.empty()) return *std::min_element(p.list_bytes.begin(), p.list_bytes.end());
    return p.request_bytes;
  }
};

}  // namespace allocbench
