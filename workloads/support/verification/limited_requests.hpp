// The requests of a cell by fewer callers, for checks that need not have all of them.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Designs that slow down as more threads compete, or as the pool grows, finish with so many callers and so few bytes.
inline constexpr std::uint32_t callers_of_slow_designs = 1 << 10;
inline constexpr std::uint64_t bytes_of_slow_designs = std::uint64_t{4} << 20;

// By `most` callers at most. Many callers become a power of two, so that cells of a sweep over threads make the same
// requests.
RequestProfile limited(const RequestProfile& profile, std::uint32_t most);
// By the callers of slow designs; one warp may ask for more bytes than these.
RequestProfile for_slow_designs(const RequestProfile& profile);

}  // namespace allocbench
