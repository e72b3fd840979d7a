#include "workloads/common/probability_steps.hpp"

#include "workloads/common/random.hpp"

namespace allocbench {

std::vector<std::uint8_t> probability_steps(std::uint64_t seed, std::uint32_t callers, std::uint32_t launches,
                                            double p_alloc, double p_free) {
  std::vector<std::uint8_t> steps(std::size_t{callers} * launches);
  for (std::uint32_t launch = 0; launch < launches; ++launch) {
    for (std::uint32_t caller = 0; caller < callers; ++caller) {
      const double draw = unit_interval(random_words(seed, RandomStream::probability_steps, caller, launch).words[0]);
      steps[std::size_t{launch} * callers + caller] =
          static_cast<std::uint8_t>((draw < p_alloc ? step_allocates : 0) | (draw < p_free ? step_frees : 0));
    }
  }
  return steps;
}

}  // namespace allocbench
