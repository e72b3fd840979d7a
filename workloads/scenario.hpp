// scenario: kernel after kernel of one kind of request, while a share of the pool is free.
//
// Pham et al. 2025, section 2.2 (figure 2: five kernels that Ouroboros runs a hundred times, from a fresh pool) and
// section 5.2.3 (figure 14: seven scenarios at a given share of free memory). Where a kernel only allocates, nothing is
// freed until all kernels have run, so that an allocator cannot live on what it got back. Every kernel asks for the
// same sizes.
//
// The share is one of what the allocator can serve: before the first sample blocks of `occupant_bytes()` are counted
// until the pool is full. Then, before each sample, the allocator's own malloc takes so many blocks of that size that
// the share is left, untimed. The rest has never been in use since the last reset.
#pragma once

#include <cmath>
#include <optional>

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/observed.hpp"
#include "workloads/common/occupancy.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/pairs.hpp"
#include "workloads/scenario/request_scenarios.hpp"

namespace allocbench {

struct Scenario {
  struct Parameters : CallerParameters {
    std::string scenario = "alloc_4096";
    std::uint32_t launches = 1;
    double free_share = 1;

    Parameters() {
      threads = 5'000;
      threads_per_block = 32;
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads of a kernel, one request each", "Pham et al. 2025, figs. 2 and 14"),
          std::tuple{
              Field{"scenario", &P::scenario, "",
                    "what each thread does: alloc_N asks for N bytes, alloc_mixed for 4 to 8,192, alloc_free_N frees "
                    "its block at once",
                    "Pham et al. 2025, figs. 2 and 14"}
                  .one_of(request_scenario_names()),
              Field{"launches", &P::launches, "launches", "kernels of a sample, timed together",
                    "Pham et al. 2025, fig. 2: 100"}
                  .between(1, 10'000),
              Field{"free_share", &P::free_share, "fraction",
                    "share of what the allocator can serve that is free before", "Pham et al. 2025, fig. 14"}
                  .between(0, 1)});
    }

    RequestScenario requests() const { return request_scenario(scenario); }
    bool takes_before() const { return free_share < 1; }
    std::uint64_t occupants_at_most(std::size_t pool_bytes) const {
      return takes_before() ? pool_bytes / requests().occupant_bytes() : 0;
    }
  };

  static constexpr WorkloadTraits traits{.name = "scenario",
                                         .display_name = "Request Scenarios",
                                         .paper = "Pham et al. 2025, secs. 2.2 and 5.2.3",
                                         .summary = "kernels of one kind of request while a share of the pool is free",
                                         .phases = "total"};

  // Keeps the pointer arrays at 1 GiB each.
  static constexpr std::uint64_t most_pointers = 1ull << 27;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    const std::string name(A::traits.display_name);
    if (A::traits.frees == Frees::in_bulk) return name + " frees in bulk: the kernels of a sample would go together";
    if (p.takes_before() &&
        (A::traits.frees == Frees::never || A::traits.recycles_unfreed || A::traits.whole_warp_calls)) {
      return name + " cannot be brought to a share of free memory by single mallocs and frees";
    }
    if (std::uint64_t{p.threads} * p.launches > most_pointers) {
      return "threads times launches is more than the " + std::to_string(most_pointers) +
             " pointers that this workload keeps";
    }
    if (p.occupants_at_most(setting.pool_bytes) > most_pointers) {
      return "the pool may hold more than the " + std::to_string(most_pointers) + " blocks that this workload keeps";
    }
    return why_unsupported<A>(p.geometry(), std::max(p.requests().max_bytes, p.requests().occupant_bytes()), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          launches_(parameters.launches),
          scenario_(parameters.requests()),
          geometry_(parameters.geometry()),
          taken_share_(1 - parameters.free_share),
          occupants_at_most_(static_cast<std::uint32_t>(parameters.occupants_at_most(setting.pool_bytes))),
          sizes_(scenario_.request_sizes(geometry_.callers, setting.seed), stream),
          results_(stream, geometry_.callers, launches_) {}

    void prepare() { results_.poison(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      if (!occupants_) occupants_.emplace(stream_, blocks_in_use(bare(allocator)));
      const FirstPages all{occupants_->count()};
      occupants_->enter(uncounted(allocator), scenario_.occupant_bytes(), all);
      sizes_.visit([&](auto sizes) {
        timer.phase("total", operations(), [&] {
          for (std::uint32_t launch = 0; launch < launches_; ++launch) {
            if (scenario_.frees_at_once) {
              simt::launch(stream_, geometry_.shape(), PairsKernel{}, allocator, geometry_, sizes, 1u, row(launch));
            } else {
              simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, sizes, row(launch));
            }
          }
        });
      });
      for (std::uint32_t launch = 0; launch < launches_ && !scenario_.frees_at_once; ++launch) {
        simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, row(launch));
      }
      occupants_->leave(uncounted(allocator), all);
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t caller) { return sizes_.host()[caller]; }),
                  scenario_.frees_at_once ? PointerCheck::Live::separately : PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, sizes_.host()}; }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{geometry_.callers} * launches_ + occupants_at_most_; }

    std::vector<KernelInfo> kernels() const {
      std::vector<KernelInfo> infos;
      sizes_.visit([&](auto sizes) {
        using Sizes = decltype(sizes);
        infos.push_back(
            {"total", scenario_.frees_at_once
                          ? simt::kernel_attributes<PairsKernel, A, Geometry, Sizes, std::uint32_t, void**>()
                          : simt::kernel_attributes<AllocKernel, A, Geometry, Sizes, void**>()});
      });
      return infos;
    }

   private:
    void** row(std::uint32_t launch) const { return results_.data() + std::size_t{launch} * geometry_.callers; }
    std::uint64_t operations() const {
      return std::uint64_t{geometry_.callers} * launches_ * (scenario_.frees_at_once ? 2 : 1);
    }

    // Of all those that an empty pool serves until it is full.
    std::uint32_t blocks_in_use(const A& allocator) const {
      if (occupants_at_most_ == 0) return 0;
      Occupants everyone(stream_, occupants_at_most_);
      const FirstPages all{occupants_at_most_};
      everyone.enter(allocator, scenario_.occupant_bytes(), all);
      const std::uint32_t served = everyone.present();
      if constexpr (A::traits.fresh == Fresh::by_reset) {
        A handle = allocator;
        handle.reset(stream_);
      } else {
        everyone.leave(allocator, all);
      }
      return static_cast<std::uint32_t>(std::llround(taken_share_ * served));
    }

    simt::Stream& stream_;
    std::uint32_t launches_;
    RequestScenario scenario_;
    Geometry geometry_;
    double taken_share_;
    std::uint32_t occupants_at_most_;
    DeviceSizes sizes_;
    RecordedPointers results_;
    std::optional<Occupants> occupants_;  // counted before the first sample
  };
};

}  // namespace allocbench
