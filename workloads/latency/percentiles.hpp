// This file computes percentiles of a latency histogram. This is host code and does not depend on devices.
#pragma once

#include <cstdint>

#include "allocators/support/adaptors/latency_histogram.hpp"

namespace allocbench {

// Returns the duration that the share `share` of the calls does not exceed. The result is the middle of that call's
// bucket, but at most the longest call. There must be at least one call.
std::uint64_t percentile(const LatencyHistogram<std::uint64_t>& histogram, double share);

std::uint64_t calls_in(const LatencyHistogram<std::uint64_t>& histogram);

}  // namespace allocbench
