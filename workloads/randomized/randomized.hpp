// In each launch of randomized, callers without a block allocate one, and callers with a block free it, each with some
// probability. The probabilities alternate, so the number of live blocks rises and falls.
//
// Paper: Adinetz & Pleiter 2014, "Randomized test". A malloc and a free have the probabilities 0.95 and 0.55 in even
// launches, and 0.55 and 0.95 in odd launches. In the authors' slides the kernel draws the random numbers. Here the
// host draws them (workloads/support/callers/random_actions.hpp), by default once per warp as in the slides.
//
// The last launch is timed separately. In a sweep over `launches`, its throughput shows how the speed changes as the
// heap ages. Blocks held after the last launch are freed untimed.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/draw_unit.hpp"

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
              Field{"divergence", &P::divergence, "", "unit that shares a random draw: thread, warp or block", slides}
                  .one_of({draw_unit_words[0], draw_unit_words[1], draw_unit_words[2]})});
    }
  };

  static constexpr WorkloadTraits traits{.name = "randomized",
                                         .display_name = "Randomized",
                                         .paper = "Adinetz & Pleiter 2014, randomized test",
                                         .summary = "launches with alternating probabilities of malloc and free",
                                         .phases = "earlier last"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
