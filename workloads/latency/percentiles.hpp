// Percentiles of a latency histogram. Host code, independent of devices.
#pragma once

#include <cstdint>

#include "allocators/support/adaptors/latency_histogram.hpp"

namespace allocbench {

// The duration that the share `share` of the calls does not exceed: the middle of that call's bucket, but at most the
// longest call. There must be at least one call.
std::uint64_t percentile(const LatencyHistogram<std::uint64_t>& histogram, double share);

std::uint64_t calls_in(const LatencyHistogram<std::uint64_t>& histogram);

}  // namespace allocbench
