// The rule that schedules leave unsaid (see schedule.hpp), and the places where a decision can differ from it.
#pragma once

#include <cstddef>
#include <span>

#include "simt/cpu/lane.hpp"
#include "simt/cpu/search/schedule.hpp"
#include "simt/cpu/strategy.hpp"

namespace simt {

// Arguments and result as of Strategy::next.
std::size_t default_next(std::span<Lane* const> runnable, std::size_t current, Reason reason, const Lane* asking);

// Numbers the questions to each lane by how far the lane has come. The lanes keep the count. When one strategy asks
// another, only the outer one advances it, and does so before it asks.
class QuestionCounter {
 public:
  struct Place {
    std::uint64_t lane;
    std::uint32_t step;
    std::uint32_t question;
  };
  explicit QuestionCounter(bool advances_lanes) : advances_lanes_(advances_lanes) {}
  // Counts for Strategy::next.
  Place count(Lane* asking, Reason reason);
  // Place of a question of converged(). It belongs to the warp: if the schedule changes elsewhere, another lane may
  // come first or give the group.
  Place count_gathering(const Lane& asking) const;
  Place count_group(const Lane& asking) const;
  // Place of a store or load, which is the step that was counted last.
  static Place of_access(const Lane& asking) { return {asking.rank_in_grid, asking.counted_steps, 0}; }

 private:
  const bool advances_lanes_;
  std::uint32_t starts_ = 0;
};

}  // namespace simt
