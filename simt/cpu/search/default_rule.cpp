#include "simt/cpu/search/default_rule.hpp"

namespace simt {

std::size_t default_next(std::span<Lane* const> runnable, std::size_t current, Reason reason, const Lane* asking) {
  if (reason == Reason::atomic || reason == Reason::collective) return current;
  std::size_t lowest = 0;
  std::size_t higher = runnable.size();  // lane with the lowest rank above the asking lane
  for (std::size_t i = 0; i < runnable.size(); ++i) {
    const std::uint64_t rank = runnable[i]->rank_in_grid;
    if (rank < runnable[lowest]->rank_in_grid) lowest = i;
    if (asking == nullptr || rank <= asking->rank_in_grid) continue;
    if (higher == runnable.size() || rank < runnable[higher]->rank_in_grid) higher = i;
  }
  return higher != runnable.size() ? higher : lowest;
}

QuestionCounter::Place QuestionCounter::count(Lane* asking, Reason reason) {
  if (asking == nullptr) return {no_lane, ++starts_, 0};
  const bool waits = reason == Reason::spin || reason == Reason::gather ||
                     (reason == Reason::blocked && asking->state == LaneState::parked);
  if (advances_lanes_) {
    asking->counted_steps += waits ? 0 : 1;
    asking->counted_questions = waits ? asking->counted_questions + 1 : 0;
  }
  return {asking->rank_in_grid, asking->counted_steps, asking->counted_questions};
}

QuestionCounter::Place QuestionCounter::count_gathering(const Lane& asking) const {
  Warp& warp = *asking.warp;
  if (advances_lanes_) ++warp.counted_gatherings;
  return {warp.lanes->rank_in_grid, warp.counted_gatherings, 0};
}

QuestionCounter::Place QuestionCounter::count_group(const Lane& asking) const {
  Warp& warp = *asking.warp;
  if (advances_lanes_) ++warp.counted_groups;
  return {warp.lanes->rank_in_grid, warp.counted_groups, 0};
}

}  // namespace simt
