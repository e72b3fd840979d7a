// Random decisions of callers, made on the host: which callers take part, and what each would do in a launch.
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

// One byte per (launch, caller), in rows of callers. `draws` gives the draw of each caller; callers with the same draw
// act in the same way. `odd` applies to every second launch.
std::vector<std::uint8_t> probability_steps(std::uint64_t seed, const std::vector<std::uint32_t>& draws,
                                            std::uint32_t launches, StepProbabilities even, StepProbabilities odd);

// One byte per caller: whether the caller takes part, with the probability `share`.
std::vector<std::uint8_t> participants(std::uint64_t seed, const std::vector<std::uint32_t>& draws, double share);

}  // namespace allocbench
