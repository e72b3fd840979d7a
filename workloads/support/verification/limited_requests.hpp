// The requests of a cell with fewer callers, for checks that do not need all callers.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// With this many callers and bytes, even designs finish that become slow with many threads or a large pool.
inline constexpr std::uint32_t callers_of_slow_designs = 1 << 10;
inline constexpr std::uint64_t bytes_of_slow_designs = std::uint64_t{4} << 20;

// With at most `most` callers. A large number of callers becomes a power of two, so that cells of a sweep over threads
// make the same requests.
RequestProfile limited(const RequestProfile& profile, std::uint32_t most);
// With the number of callers for slow designs. One warp may request more bytes than this limit.
RequestProfile for_slow_designs(const RequestProfile& profile);

}  // namespace allocbench
