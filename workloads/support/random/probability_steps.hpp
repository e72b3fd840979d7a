// This file makes random decisions of callers on the host: which callers take part, and what each does in a launch.
#pragma once

#include <cstdint>
#include <vector>

namespace allocbench {

inline constexpr std::uint8_t step_allocates = 1;  // a caller without a block allocates
inline constexpr std::uint8_t step_frees = 2;      // a caller with a block frees it

struct StepProbabilities {
  double alloc = 0;
  double free = 0;
};

// Returns one byte per launch and caller, in rows of callers. Callers with the same number in `draws` act in the same
// way. `odd` applies to launches with odd numbers, counted from 0, and `even` to all other launches.
std::vector<std::uint8_t> probability_steps(std::uint64_t seed, const std::vector<std::uint32_t>& draws,
                                            std::uint32_t launches, StepProbabilities even, StepProbabilities odd);

// Returns one byte per caller: whether the caller takes part. The probability is `share`.
std::vector<std::uint8_t> participants(std::uint64_t seed, const std::vector<std::uint32_t>& draws, double share);

}  // namespace allocbench
