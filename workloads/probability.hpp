// probability (P): the same kernel launched several times; in each a thread that holds nothing allocates with one
// probability and a thread that holds a block frees it with another, so that a mix of both emerges.
//
// Vinkler & Havran 2015, sec. 5, after Steinberger et al. 2012. The paper counts 1,450 mallocs and 986 frees at 120
// blocks, which its rule reaches after about 3.3 launches and not 10: the counters of each sample say what really
// happened. What is held after the last launch is freed untimed.
#pragma once

#include "workloads/common/draw_unit.hpp"
#include "workloads/common/random_actions.hpp"
#include "workloads/common/warp_parameters.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct Probability {
  struct Parameters : WarpParameters, SmParameters {
    std::uint32_t launches = 10;
    double p_alloc = 0.75;
    double p_free = 0.75;

    static auto fields() {
      return std::tuple_cat(
          warp_fields<Parameters>(), sm_fields<Parameters>(),
          std::tuple{Field{"launches", &Parameters::launches, "launches", "kernel launches of one sample",
                           "Vinkler & Havran 2015, table 1"}
                         .between(1, 10'000),
                     Field{"p_alloc", &Parameters::p_alloc, "", "probability that a caller without a block allocates",
                           "Vinkler & Havran 2015, sec. 5"}
                         .between(0, 1),
                     Field{"p_free", &Parameters::p_free, "", "probability that a caller with a block frees it",
                           "Vinkler & Havran 2015, sec. 5"}
                         .between(0, 1)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "probability",
                                         .display_name = "Probability",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [P]",
                                         .summary = "repeated launches in which callers allocate or free by chance",
                                         .phases = "total"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(p.geometry(), p.padded_bytes(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : parameters_(parameters), actions_(make_actions(parameters, setting.seed, stream)) {}

    void prepare() { actions_.prepare(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("total", 0, [&] {
        for (std::uint32_t launch = 0; launch < parameters_.launches; ++launch) {
          actions_.template launch<std::is_same_v<Caller, A>>(allocator, launch);
        }
      });
      actions_.finish(allocator);
      const RandomActions::Counts counts = actions_.counts(0, parameters_.launches);
      timer.set_operations("total", counts.sum());
      timer.counter("mallocs", counts.mallocs);
      timer.counter("frees", counts.frees);
    }

    void check_recorded(PointerCheck& check) const { actions_.check_recorded(check); }
    RequestProfile requests() const {
      return {parameters_.geometry(), RequestSizes::fixed(parameters_.padded_bytes())};
    }
    std::uint64_t mallocs_at_most() const {
      return std::uint64_t{parameters_.geometry().callers} * parameters_.launches;
    }
    std::vector<KernelInfo> kernels() const { return {{"total", actions_.template kernel_attributes<A, true>()}}; }

   private:
    static RandomActions make_actions(const Parameters& p, std::uint64_t seed, simt::Stream& stream) {
      const StepProbabilities likely{p.p_alloc, p.p_free};
      const Geometry geometry = p.geometry();
      return RandomActions(stream, geometry, FixedSize{p.padded_bytes()},
                           probability_steps(seed, draw_of_callers(geometry, "thread"), p.launches, likely, likely),
                           p.launches, p);
    }

    Parameters parameters_;
    RandomActions actions_;
  };
};

}  // namespace allocbench
