#include "workloads/support/verification/limited_requests.hpp"

#include <algorithm>
#include <bit>

namespace allocbench {

RequestProfile limited(const RequestProfile& profile, std::uint32_t most) {
  const Geometry& all = profile.geometry;
  if (all.callers <= std::min(most, callers_of_slow_designs)) return profile;
  const std::uint32_t callers = std::bit_floor(std::min(all.callers, most));
  return {Geometry::of_callers(callers, all.threads_per_block, all.lanes_per_warp), profile.sizes};
}

RequestProfile for_slow_designs(const RequestProfile& profile) {
  RequestProfile few = limited(profile, callers_of_slow_designs);
  while (few.bytes() > bytes_of_slow_designs && few.geometry.callers >= 2 * simt::warp_size) {
    few = limited(few, few.geometry.callers / 2);
  }
  return few;
}

}  // namespace allocbench
