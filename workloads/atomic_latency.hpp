// atomic_latency: how long a thread waits for an atomic addition to a word to which all others add as well.
//
// Pham et al. 2025, fig. 1: the latency grows with the number of threads, which is what any allocator with one queue
// inherits. On the CPU back end these are threads of the operating system on the machine's cores, not lanes of the
// executor; those beyond the number of cores take turns. The allocator has no part in it.
#pragma once

#include "workloads/common/requirements.hpp"
#include "workloads/common/word_contention.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct AtomicLatency {
  struct Parameters {
    std::uint32_t threads = 1024;
    std::uint32_t threads_per_block = 32;
    std::uint32_t additions = 100;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"threads", &P::threads, "threads", "threads that add to the word", "Pham et al. 2025, fig. 1"}.between(
              1, 1 << 20),
          Field{"threads_per_block", &P::threads_per_block, "threads",
                "threads of a block; nothing on the CPU back end", "assumed: one warp"}
              .between(1, most_threads_per_block),
          Field{"additions", &P::additions, "additions", "additions of a thread, one after the other", "assumed"}
              .between(1, 1 << 24)};
    }
  };

  static constexpr WorkloadTraits traits{.name = "atomic_latency",
                                         .display_name = "Latency of Atomics",
                                         .paper = "Pham et al. 2025, fig. 1",
                                         .summary = "all threads add to one word; no allocation at all",
                                         .phases = "atomics",
                                         .writes_blocks = true};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>&) {
    const bool fits = std::uint64_t{p.threads} * p.additions < 0xffffffffu;
    return fits ? "" : "threads times additions do not fit the word of 32 bits";
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : stream_(stream), word_(parameters.threads, parameters.threads_per_block, parameters.additions) {}

    void prepare() {}
    void sample(const A&, PhaseTimer& timer) { timer.counter("atomic_cycles", word_.run(stream_, timer)); }

    void check_recorded(PointerCheck&) const {
      if (word_.found(stream_) != word_.expected()) {
        throw CellFailure(Status::incorrect, "the word holds " + std::to_string(word_.found(stream_)) + " after " +
                                                 std::to_string(word_.expected()) + " additions");
      }
    }

    // For the leak check.
    RequestProfile requests() const { return {Geometry::of_callers(1, 1, 1), RequestSizes::fixed(16)}; }
    std::uint64_t mallocs_at_most() const { return 0; }
    std::vector<KernelInfo> kernels() const { return {}; }

   private:
    simt::Stream& stream_;
    WordContention word_;
  };
};

}  // namespace allocbench
