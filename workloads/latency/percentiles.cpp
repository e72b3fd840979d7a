#include "workloads/latency/percentiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace allocbench {

std::uint64_t calls_in(const LatencyHistogram<std::uint64_t>& histogram) {
  return std::accumulate(std::begin(histogram.counts), std::end(histogram.counts), std::uint64_t{0});
}

std::uint64_t percentile(const LatencyHistogram<std::uint64_t>& histogram, double share) {
  const std::uint64_t calls = calls_in(histogram);
  if (calls == 0) throw std::invalid_argument("a histogram of no calls has no percentiles");
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(calls))));
  std::uint64_t seen = 0;
  for (std::uint32_t bucket = 0; bucket + 1 < LatencyBuckets::count; ++bucket) {
    seen += histogram.counts[bucket];
    if (seen < rank) continue;
    const std::uint64_t last = LatencyBuckets::first_of(bucket + 1) - 1;
    return std::min((LatencyBuckets::first_of(bucket) + last) / 2, histogram.largest);
  }
  return histogram.largest;  // the last bucket has no end
}

}  // namespace allocbench
