#include "workloads/support/callers/largest_free_request.hpp"

#include <algorithm>
#include <bit>

#include "workloads/support/callers/caller_requests.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t smallest = 16;
constexpr std::uint64_t steps_per_octave = 8;

bool serves(simt::Stream& stream, const AllocatorHandle& allocator, const Geometry& geometry, std::uint64_t bytes) {
  const CallerRequests requests(stream, geometry, RequestSizes::fixed(bytes));
  requests.alloc(allocator);
  const std::vector<RecordedBlock> served = requests.blocks();
  requests.free(allocator);
  return std::none_of(served.begin(), served.end(), [](const RecordedBlock& each) { return each.address == 0; });
}

}  // namespace

std::uint64_t largest_free_request(simt::Stream& stream, const RunSetting& setting, const AllocatorHandle& allocator) {
  const Geometry geometry = setting.traits().whole_warp_calls
                                ? Geometry::of_callers(simt::warp_size, simt::warp_size, simt::warp_size)
                                : Geometry::of_callers(1, simt::warp_size, 1);
  const std::uint64_t limit = std::min<std::uint64_t>(setting.max_request(), setting.pool_bytes);
  if (limit >= smallest && serves(stream, allocator, geometry, limit)) return limit;
  for (std::uint64_t power = std::bit_floor(limit); power >= smallest; power /= 2) {
    if (!serves(stream, allocator, geometry, power)) continue;
    std::uint64_t largest = power;
    for (std::uint64_t step = 1; step < steps_per_octave; ++step) {
      const std::uint64_t bytes = power + power / steps_per_octave * step;
      if (bytes > limit || !serves(stream, allocator, geometry, bytes)) break;
      largest = bytes;
    }
    return largest;
  }
  return 0;
}

}  // namespace allocbench
