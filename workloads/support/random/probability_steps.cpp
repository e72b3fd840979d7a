#include "workloads/support/random/probability_steps.hpp"

#include <algorithm>

#include "workloads/support/parallel/parallel_for.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {

std::vector<std::uint8_t> probability_steps(std::uint64_t seed, const std::vector<std::uint32_t>& draws,
                                            std::uint32_t launches, StepProbabilities even, StepProbabilities odd) {
  const std::size_t callers = draws.size();
  std::vector<std::uint8_t> steps(callers * launches);
  parallel_for(steps.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const auto launch = static_cast<std::uint32_t>(at / callers);
      const StepProbabilities& likely = launch % 2 == 0 ? even : odd;
      const double draw =
          unit_interval(random_words(seed, RandomStream::probability_steps, draws[at % callers], launch).words[0]);
      steps[at] =
          static_cast<std::uint8_t>((draw < likely.alloc ? step_allocates : 0) | (draw < likely.free ? step_frees : 0));
    }
  });
  return steps;
}

std::vector<std::uint8_t> participants(std::uint64_t seed, const std::vector<std::uint32_t>& draws, double share) {
  std::vector<std::uint8_t> flags(draws.size());
  std::transform(draws.begin(), draws.end(), flags.begin(), [&](std::uint32_t draw) {
    return unit_interval(random_words(seed, RandomStream::participants, draw).words[0]) < share;
  });
  return flags;
}

}  // namespace allocbench
