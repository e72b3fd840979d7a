// pairs: every caller allocates a block and frees it at once, many times in one kernel.
//
// Spliet et al., GPGPU-7 2014, sec. 5.1: one thread makes up to 10,000 pairs (fig. 4), or each of many threads makes
// 100 (fig. 5) with sizes that are equal, differ a little, or differ much. Each pair has its own size, drawn before
// the kernel starts. A pointer is stored before it is freed; when the store lands, another thread may own the block
// already, so pointers are checked one by one and not against each other.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/size_parameters.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

// Sizes and results lie in rows of callers, one row per iteration, so that a warp's accesses coalesce. Designs that
// free in bulk keep all blocks of a caller until its last iteration.
struct PairsKernel {
  template <class Thread, class A, class Sizes>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, Sizes sizes, std::uint32_t iterations,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    const std::uint32_t end = iterations * geometry.callers;
    for (std::uint32_t slot = caller; slot < end; slot += geometry.callers) {
      void* const block = session.malloc(thread, sizes[slot]);
      blocks[slot] = block;
      session.free(thread, block);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

struct Pairs {
  struct Parameters : CallerParameters, SizeParameters {
    std::uint32_t iterations = 100;

    Parameters() { threads = 1024; }

    static auto fields() {
      return std::tuple_cat(
          caller_fields<Parameters>("threads that allocate and free", "Spliet et al. 2014, fig. 5"),
          std::tuple{Field{"iterations", &Parameters::iterations, "pairs",
                           "pairs of malloc and free that a caller makes", "Spliet et al. 2014, sec. 5.1"}
                         .between(1, 1 << 24)},
          size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{.name = "pairs",
                                         .display_name = "Malloc-Free Pairs",
                                         .paper = "Spliet et al. 2014, sec. 5.1",
                                         .summary = "every caller allocates a block and frees it at once, many times",
                                         .phases = "total"};

  // Keeps the pointer array at 2 GiB and every index in 32 bits.
  static constexpr std::uint64_t most_pairs = 1ull << 28;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    const std::uint64_t pairs = std::uint64_t{p.threads} * p.iterations;
    if (pairs > most_pairs) {
      return "threads times iterations is " + std::to_string(pairs) + "; this workload keeps at most " +
             std::to_string(most_pairs) + " pointers";
    }
    return why_unsupported<A>(p.geometry(), p.largest_request(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          geometry_(parameters.geometry()),
          seed_(setting.seed),
          sizes_(parameters.request_sizes(geometry_.callers * parameters.iterations, seed_), stream),
          results_(stream, geometry_.callers, parameters.iterations) {}

    void prepare() { results_.poison(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      sizes_.visit([&](auto sizes) {
        timer.phase("total", 2 * mallocs_at_most(), [&] {
          simt::launch(stream_, geometry_.shape(), PairsKernel{}, allocator, geometry_, sizes, parameters_.iterations,
                       results_.data());
        });
      });
    }

    void check_recorded(PointerCheck& check) const {
      std::vector<RecordedBlock> blocks = results_.blocks([](std::size_t) { return std::uint64_t{0}; });
      for (RecordedBlock& block : blocks) block.bytes = sizes_.host()[block.request];
      check.check(blocks, PointerCheck::Live::separately);
    }

    // The first pair of every caller: one block of each is live at a time.
    RequestProfile requests() const { return {geometry_, parameters_.request_sizes(geometry_.callers, seed_)}; }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{geometry_.callers} * parameters_.iterations; }

    std::vector<KernelInfo> kernels() const {
      std::vector<KernelInfo> infos;
      sizes_.visit([&](auto sizes) {
        infos.push_back(
            {"total", simt::kernel_attributes<PairsKernel, A, Geometry, decltype(sizes), std::uint32_t, void**>()});
      });
      return infos;
    }

   private:
    simt::Stream& stream_;
    Parameters parameters_;
    Geometry geometry_;
    std::uint64_t seed_;
    DeviceSizes sizes_;
    RecordedPointers results_;
  };
};

}  // namespace allocbench
