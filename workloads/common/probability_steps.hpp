// The draws of the probability workload: what a caller would do in a launch, decided on the host.
#pragma once

#include <cstdint>
#include <vector>

namespace allocbench {

inline constexpr std::uint8_t step_allocates = 1;  // if it holds nothing
inline constexpr std::uint8_t step_frees = 2;      // if it holds a block

// One byte per (launch, caller), rows of callers.
std::vector<std::uint8_t> probability_steps(std::uint64_t seed, std::uint32_t callers, std::uint32_t launches,
                                            double p_alloc, double p_free);

}  // namespace allocbench
