// This file computes percentiles of a latency histogram. This is host code and does not depend on devices.
#pragma once

#include <cstdint>

#include "allocators/support/adaptors/latency_histogram.hpp"

namespace allocbench {

// Returns the duration that the share `share` of the calls does not exceed, as exactly as the buckets allow. The result
// is the middle of the bucket of the longest of these calls, but at most the longest call of all. There must be at
// least one call.
std::uint64_t percentile(const LatencyHistogram<std::uint64_t>& histogram, double share);

std::uint64_t calls_in(const LatencyHistogram<std::uint64_t>& histogram);

}  // namespace allocbench
