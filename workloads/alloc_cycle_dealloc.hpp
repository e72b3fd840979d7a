// alloc_cycle_dealloc (ACD): several allocations, then the frees of all of them, in one kernel.
//
// Vinkler & Havran 2015, sec. 5, after Widmer et al. 2013. The pointers are kept in a global array, one row of callers
// per iteration, so that a warp's accesses coalesce: 100 pointers per thread do not fit registers, an array in local
// memory would be the same traffic in disguise, and the array is needed for the check anyway. Blocks of one thread are
// live together; other threads may have freed theirs, so overlap is checked thread by thread.
#pragma once

#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/sm_confinement.hpp"
#include "workloads/common/warp_parameters.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct AllocCycleDeallocKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, std::uint32_t iterations,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void** const end = blocks + std::size_t{iterations} * geometry.callers;
    for (void** slot = blocks + caller; slot < end; slot += geometry.callers)
      *slot = session.malloc(thread, size[caller]);
    for (void** slot = blocks + caller; slot < end; slot += geometry.callers) session.free(thread, *slot);
    release_all(session, thread);
    detach(session, thread);
  }
};

struct AllocCycleDealloc {
  struct Parameters : WarpParameters, SmParameters {
    std::uint32_t iterations = 10;

    static auto fields() {
      return std::tuple_cat(
          warp_fields<Parameters>(), sm_fields<Parameters>(),
          std::tuple{Field{"iterations", &Parameters::iterations, "blocks",
                           "blocks that each caller allocates before it frees them", "Vinkler & Havran 2015, table 1"}
                         .between(1, 100'000)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_cycle_dealloc",
                                         .display_name = "Alloc Cycle Dealloc",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [ACD]",
                                         .summary = "every caller allocates several blocks, then frees them all",
                                         .phases = "total"};

  // Keeps the pointer array below 2 GiB and every index in 32 bits.
  static constexpr std::uint64_t most_live_blocks = 1ull << 28;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    const std::uint64_t blocks = std::uint64_t{p.geometry().callers} * p.iterations;
    if (blocks > most_live_blocks) {
      return "callers times iterations is " + std::to_string(blocks) + "; this workload keeps at most " +
             std::to_string(most_live_blocks) + " pointers";
    }
    return why_unsupported<A>(p.geometry(), p.padded_bytes(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : parameters_(parameters),
          geometry_(parameters.geometry()),
          size_{parameters.padded_bytes()},
          results_(stream, geometry_.callers, parameters.iterations),
          confinement_(stream, parameters) {}

    void prepare() {
      results_.poison();
      confinement_.prepare();
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("total", 2 * mallocs_at_most(), [&] {
        confinement_.template launch<std::is_same_v<Caller, A>>(geometry_.shape(), AllocCycleDeallocKernel{}, allocator,
                                                                geometry_, size_, parameters_.iterations,
                                                                results_.data());
      });
    }

    void check_recorded(PointerCheck& check) const {
      const std::vector<RecordedBlock> all = results_.blocks([&](std::size_t) { return size_.bytes; });
      std::vector<RecordedBlock> mine(parameters_.iterations);
      for (std::size_t caller = 0; caller < geometry_.callers; ++caller) {
        for (std::size_t round = 0; round < mine.size(); ++round) mine[round] = all[round * geometry_.callers + caller];
        check.check(mine, PointerCheck::Live::together);
      }
    }

    // All blocks of all callers may be live at once: as many blocks of threads as there are iterations.
    RequestProfile requests() const {
      const Geometry all = Geometry::of_blocks(parameters_.blocks * parameters_.iterations,
                                               parameters_.threads_per_block, parameters_.lanes_per_warp);
      return {all, RequestSizes::fixed(size_.bytes)};
    }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{geometry_.callers} * parameters_.iterations; }

    std::vector<KernelInfo> kernels() const {
      return {
          {"total",
           confinement_.template attributes<AllocCycleDeallocKernel, A, Geometry, FixedSize, std::uint32_t, void**>()}};
    }

   private:
    Parameters parameters_;
    Geometry geometry_;
    FixedSize size_;
    RecordedPointers results_;
    SmConfinement confinement_;
  };
};

}  // namespace allocbench
