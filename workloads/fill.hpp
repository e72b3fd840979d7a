// fill: mallocs and frees while a share of the pool is already taken.
//
// Adinetz & Pleiter 2014: a hash finds a free block fast while fewer than about 85 % are taken. Before each sample
// blocks of the same size take `taken_share` of the pool, untimed; then threads allocate in one kernel and free in
// another. The share counts requested bytes, rounded up to 16: an allocator that rounds higher is full earlier, and
// says `oom`.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct Fill {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 64;
    double taken_share = 0.5;

    Parameters() { threads = 10'000; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that allocate while they are timed, one request each", "assumed"),
          std::tuple{Field{"request_bytes", &P::request_bytes, "B", "size of every request, before and while timing",
                           "assumed"}
                         .between(1, 1ull << 40),
                     Field{"taken_share", &P::taken_share, "", "share of the pool that is taken before timing starts",
                           "Adinetz & Pleiter 2014, free block search"}
                         .between(0, 1)});
    }

    std::uint64_t blocks_before(std::size_t pool_bytes) const {
      return static_cast<std::uint64_t>(taken_share * static_cast<double>(pool_bytes) /
                                        static_cast<double>(pad(request_bytes, 16)));
    }
  };

  static constexpr WorkloadTraits traits{.name = "fill",
                                         .display_name = "Fill Level",
                                         .paper = "Adinetz & Pleiter 2014, free block search",
                                         .summary = "mallocs, then frees, while a share of the pool is taken",
                                         .phases = "alloc free"};

  static constexpr std::uint64_t most_blocks_before = 1ull << 26;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (A::traits.frees == Frees::in_bulk) {
      return std::string(A::traits.display_name) +
             " frees in bulk: the blocks that fill the pool would go with the timed ones";
    }
    if (p.blocks_before(setting.pool_bytes) > most_blocks_before) {
      return std::to_string(p.blocks_before(setting.pool_bytes)) + " blocks would fill the pool; this workload keeps " +
             std::to_string(most_blocks_before) + " at most";
    }
    return why_unsupported<A>(p.geometry(), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          geometry_(parameters.geometry()),
          before_(geometry_of(parameters, setting.pool_bytes)),
          size_{parameters.request_bytes},
          taken_(stream, before_.callers),
          results_(stream, geometry_.callers) {}

    void prepare() {
      taken_.poison();
      results_.poison();
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      if (before_.callers != 0) {
        simt::launch(stream_, before_.shape(), AllocKernel{}, allocator, before_, size_, taken_.data());
      }
      timer.phase("alloc", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, size_, results_.data());
      });
      timer.phase("free", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, results_.data());
      });
      if (before_.callers != 0) {
        simt::launch(stream_, before_.shape(), FreeKernel{}, allocator, before_, taken_.data());
      }
    }

    void check_recorded(PointerCheck& check) const {
      const auto size_of = [&](std::size_t) { return size_.bytes; };
      std::vector<RecordedBlock> all = taken_.blocks(size_of);
      for (RecordedBlock block : results_.blocks(size_of)) {
        block.request += before_.callers;
        all.push_back(block);
      }
      check.check(all, PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{before_.callers} + geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      return {{"alloc", simt::kernel_attributes<AllocKernel, A, Geometry, FixedSize, void**>()},
              {"free", simt::kernel_attributes<FreeKernel, A, Geometry, void**>()}};
    }

   private:
    // As many threads as there are blocks to take.
    static Geometry geometry_of(const Parameters& p, std::size_t pool_bytes) {
      return Geometry::of_callers(static_cast<std::uint32_t>(p.blocks_before(pool_bytes)), p.threads_per_block,
                                  p.lanes_per_warp);
    }

    simt::Stream& stream_;
    Geometry geometry_;
    Geometry before_;
    FixedSize size_;
    RecordedPointers taken_;
    RecordedPointers results_;
  };
};

}  // namespace allocbench
