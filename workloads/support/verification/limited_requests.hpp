// This file makes the requests of a cell with fewer callers, for checks that do not need all callers.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Limits for designs that are slow with many threads or a large pool.
inline constexpr std::uint32_t callers_of_slow_designs = 1 << 10;
inline constexpr std::uint64_t bytes_of_slow_designs = std::uint64_t{4} << 20;

// Returns the requests of at most `most` callers. If there are more than `most` or 1,024 callers, their number becomes
// a power of two, so that cells of a sweep over threads share results.
RequestProfile limited(const RequestProfile& profile, std::uint32_t most);
// Returns the requests within the limits for slow designs. Fewer than 64 callers may exceed the limit of bytes.
RequestProfile for_slow_designs(const RequestProfile& profile);

}  // namespace allocbench
