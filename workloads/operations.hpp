// operations: how many operations on shared words a malloc and a free take, and how many compare-exchanges are lost.
//
// Huang et al. 2010, sec. III and IV-A: N lanes that each run a compare-exchange loop on one word need N(N+1)/2 of them
// at least, and queue operations of two and four accesses. Each sample runs alloc and free twice: timed as alloc_free
// does it, then untimed through Counted<A>. Counts are means per call over all callers, so a warp that is served by one
// request shows a fraction. What a block's owner does without atomics is not counted. On the CPU back end lanes run one
// after the other most of the time, so few compare-exchanges are lost there.
#pragma once

#include "allocators/adaptors/counted.hpp"
#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct Operations {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 8;

    Parameters() { threads = 10'000; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(caller_fields<P>("threads that allocate, one request each", "assumed"),
                            std::tuple{Field{"request_bytes", &P::request_bytes, "B", "size of every request",
                                             "Huang et al. 2010, sec. VI"}
                                           .between(1, 1ull << 40)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "operations",
                                         .display_name = "Operations per Call",
                                         .paper = "Huang et al. 2010, sec. III and IV-A",
                                         .summary = "operations on shared words per malloc and per free, counted",
                                         .phases = "alloc free"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(p.geometry(), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : stream_(stream),
          geometry_(parameters.geometry()),
          size_{parameters.request_bytes},
          results_(stream, geometry_.callers),
          counted_results_(stream, geometry_.callers),
          ledger_(1) {}

    void prepare() {
      results_.poison();
      counted_results_.clear();
      ledger_.fill_bytes(stream_, 0);
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("alloc", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, size_, results_.data());
      });
      timer.phase("free", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, results_.data());
      });
      counts_ = std::is_same_v<Caller, A>;  // the checking pass has operations of its own
      if constexpr (std::is_same_v<Caller, A>) count(allocator, timer);
    }

    void check_recorded(PointerCheck& check) const {
      const auto size_of = [&](std::size_t) { return size_.bytes; };
      check.check(results_.blocks(size_of), PointerCheck::Live::together);
      if (counts_) check.check(counted_results_.blocks(size_of), PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const { return 2ull * geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      return {{"alloc", simt::kernel_attributes<AllocKernel, A, Geometry, FixedSize, void**>()},
              {"free", simt::kernel_attributes<FreeKernel, A, Geometry, void**>()}};
    }

   private:
    void count(const A& allocator, PhaseTimer& timer) {
      const Counted<A> counted(allocator, ledger_.data());
      simt::launch(stream_, geometry_.shape(), AllocKernel{}, counted, geometry_, size_, counted_results_.data());
      simt::launch(stream_, geometry_.shape(), FreeKernel{}, counted, geometry_, counted_results_.data());
      const OperationLedger ledger = ledger_.to_host(stream_).front();
      report(ledger.mallocs, "malloc", timer);
      report(ledger.frees, "free", timer);
    }

    static void report(const CallCounts& counts, const std::string& call, PhaseTimer& timer) {
      const auto per_call = [&](const char* what, std::uint64_t count) {
        timer.counter(what + ("_per_" + call), static_cast<double>(count) / static_cast<double>(counts.calls));
      };
      const simt::OperationCounts& all = counts.operations;
      per_call("operations", all.operations());
      per_call("compare_exchanges", all.compare_exchanges);
      per_call("lost_exchanges", all.lost_exchanges);
      per_call("updates", all.updates);
    }

    simt::Stream& stream_;
    Geometry geometry_;
    FixedSize size_;
    RecordedPointers results_;
    RecordedPointers counted_results_;
    simt::Buffer<OperationLedger> ledger_;
    bool counts_ = false;  // whether the last sample has counted
  };
};

}  // namespace allocbench
