// LatencyHistogram counts the calls of the Latency adaptor by duration, in buckets that grow with the duration. Both
// device code and host reports use it.
#pragma once

#include <cstdint>

#include "simt/bits.hpp"
#include "simt/common.hpp"

namespace allocbench {

// From 16 clock ticks on, there are 16 buckets from one power of two to the next, so the width of a bucket is at most
// 1/16 of its durations. Each duration below 32 has its own bucket. The last bucket includes all durations of 2^36
// clock ticks and more.
struct LatencyBuckets {
  static constexpr std::uint32_t bits = 4;
  static constexpr std::uint32_t per_octave = 1u << bits;
  static constexpr std::uint32_t octaves = 36 - bits;
  static constexpr std::uint32_t count = per_octave * (octaves + 1);

  static SIMT_HOST_FN std::uint32_t bucket_of(std::uint64_t ticks) {
    if (ticks < per_octave) return static_cast<std::uint32_t>(ticks);
    const std::uint32_t octave = 63 - simt::count_leading_zeros(ticks) - bits;
    if (octave >= octaves) return count - 1;
    return per_octave * octave + static_cast<std::uint32_t>(ticks >> octave);
  }
  // Returns the shortest duration of a bucket, or 2^36 for `count`.
  static SIMT_HOST_FN std::uint64_t first_of(std::uint32_t bucket) {
    if (bucket < 2 * per_octave) return bucket;
    const std::uint32_t octave = bucket / per_octave - 1;
    return std::uint64_t{bucket - per_octave * octave} << octave;
  }
};

// In device memory, the host sets all bytes to zero before a kernel. In shared memory, BlockLatencies::open() sets the
// values that are read.
template <class Count>
struct LatencyHistogram {
  std::uint64_t largest = 0;
  std::uint64_t last_block = 0;  // written but never read; a call ends when its pointer has arrived
  Count counts[LatencyBuckets::count] = {};
};

}  // namespace allocbench
