// LockstepStrategy lets the lanes of a warp advance together, as on hardware without independent thread scheduling.
//
// In the present warp, the lane that was at the fewest scheduling points continues. Among equal lanes, those at the
// same line run one after the other. So lanes on one path make every call in turn and arrive together at group
// operations and at converged(). Whole warps then take the warp-aggregated paths, which they rarely do in random
// schedules. After a meeting, the lanes count as equal again. The seed determines the order within a warp and the time
// for which the executor stays with one warp.
#pragma once

#include "simt/cpu/strategy.hpp"

namespace simt {

class LockstepStrategy final : public Strategy {
 public:
  LockstepStrategy(std::uint64_t seed, GroupDraw groups);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  void met(Warp& warp, LaneMask members) override;
  std::string description() const override;

 private:
  Random random_;
  std::uint32_t lane_order_;  // lanes are ordered by index ^ lane_order_
  std::uint32_t slice_;       // calls of a whole warp before another warp may continue
  std::uint32_t left_;        // scheduling points left of the slice
  const Warp* warp_ = nullptr;
};

}  // namespace simt
