// Random decisions of callers, made on the host: who takes part at all, and what a caller would do in a launch.
#pragma once

#include <cstdint>
#include <vector>

namespace allocbench {

inline constexpr std::uint8_t step_allocates = 1;  // if it holds nothing
inline constexpr std::uint8_t step_frees = 2;      // if it holds a block

struct StepProbabilities {
  double alloc = 0;
  double free = 0;
};

// One byte per (launch, caller), rows of callers. `draws` names the draw of each caller: callers that share one act
// alike. `odd` holds for every second launch.
std::vector<std::uint8_t> probability_steps(std::uint64_t seed, const std::vector<std::uint32_t>& draws,
                                            std::uint32_t launches, StepProbabilities even, StepProbabilities odd);

// One byte per caller: whether it takes part, which it does with the probability `share`.
std::vector<std::uint8_t> participants(std::uint64_t seed, const std::vector<std::uint32_t>& draws, double share);

}  // namespace allocbench
