// randomized: launch after launch, callers without a block allocate and callers with one free, each by chance; the
// chances alternate, so that the number of live blocks swings.
//
// Adinetz & Pleiter 2014, "Randomized test": 0.95 and 0.55 in even launches, 0.55 and 0.95 in odd ones. The last launch
// is timed by itself: swept over `launches`, its throughput shows how an ageing heap changes speed. The slides draw
// inside the kernel; here draws are made on the host (common/random_actions.hpp), one per warp unless told otherwise,
// as the slides' default is. What is held after the last launch is freed untimed.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/draw_unit.hpp"
#include "workloads/common/random_actions.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct Randomized {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 16;
    std::uint32_t launches = 10;
    double p_alloc_even = 0.95;
    double p_free_even = 0.55;
    double p_alloc_odd = 0.55;
    double p_free_odd = 0.95;
    std::string divergence = "warp";

    static auto fields() {
      using P = Parameters;
      const char* const slides = "Adinetz & Pleiter 2014, randomized test";
      return std::tuple_cat(
          caller_fields<P>("threads that act", slides),
          std::tuple{
              Field{"request_bytes", &P::request_bytes, "B", "size of every request", slides}.between(1, 1ull << 40),
              Field{"launches", &P::launches, "launches", "kernel launches of one sample; the last is timed by itself",
                    slides}
                  .between(1, 10'000),
              Field{"p_alloc_even", &P::p_alloc_even, "", "chance of a malloc in even launches", slides}.between(0, 1),
              Field{"p_free_even", &P::p_free_even, "", "chance of a free in even launches", slides}.between(0, 1),
              Field{"p_alloc_odd", &P::p_alloc_odd, "", "chance of a malloc in odd launches", slides}.between(0, 1),
              Field{"p_free_odd", &P::p_free_odd, "", "chance of a free in odd launches", slides}.between(0, 1),
              Field{"divergence", &P::divergence, "", "what shares a draw: a thread has its own, a warp or a block one",
                    slides}
                  .one_of({draw_unit_words[0], draw_unit_words[1], draw_unit_words[2]})});
    }
  };

  static constexpr WorkloadTraits traits{.name = "randomized",
                                         .display_name = "Randomized",
                                         .paper = "Adinetz & Pleiter 2014, randomized test",
                                         .summary = "launches with alternating probabilities of malloc and free",
                                         .phases = "earlier last"};

  // Keeps the pointer array at 1 GiB.
  static constexpr std::uint64_t most_actions = 1ull << 27;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    const std::uint64_t actions = std::uint64_t{p.threads} * p.launches;
    if (actions > most_actions) {
      return "threads times launches is " + std::to_string(actions) + "; this workload records at most " +
             std::to_string(most_actions) + " actions";
    }
    if (A::traits.whole_warp_calls && p.divergence == "thread") {
      return std::string(A::traits.display_name) + " needs whole warps, which divergence per thread tears";
    }
    return why_unsupported<A>(p.geometry(), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : parameters_(parameters), actions_(make_actions(parameters, setting.seed, stream)) {}

    void prepare() { actions_.prepare(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      const std::uint32_t last = parameters_.launches - 1;
      if (last > 0) {
        timer.phase("earlier", 0, [&] {
          for (std::uint32_t launch = 0; launch < last; ++launch) actions_.launch(allocator, launch);
        });
      }
      timer.phase("last", 0, [&] { actions_.launch(allocator, last); });
      actions_.finish(allocator);
      timer.set_operations("earlier", actions_.counts(0, last).sum());
      timer.set_operations("last", actions_.counts(last, last + 1).sum());
      const RandomActions::Counts all = actions_.counts(0, last + 1);
      timer.counter("mallocs", all.mallocs);
      timer.counter("frees", all.frees);
    }

    void check_recorded(PointerCheck& check) const { actions_.check_recorded(check); }
    RequestProfile requests() const { return {parameters_.geometry(), RequestSizes::fixed(parameters_.request_bytes)}; }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{parameters_.threads} * parameters_.launches; }
    std::vector<KernelInfo> kernels() const { return {{"last", actions_.template kernel_attributes<A>()}}; }

   private:
    static RandomActions make_actions(const Parameters& p, std::uint64_t seed, simt::Stream& stream) {
      const Geometry geometry = p.geometry();
      return RandomActions(stream, geometry, FixedSize{p.request_bytes},
                           probability_steps(seed, draw_of_callers(geometry, p.divergence), p.launches,
                                             {p.p_alloc_even, p.p_free_even}, {p.p_alloc_odd, p.p_free_odd}),
                           p.launches);
    }

    Parameters parameters_;
    RandomActions actions_;
  };
};

}  // namespace allocbench
