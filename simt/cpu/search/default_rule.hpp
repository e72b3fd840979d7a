// default_next() is the default rule of schedules (schedule.hpp). QuestionCounter gives the places where a decision can
// differ from this rule.
#pragma once

#include <cstddef>
#include <span>

#include "simt/cpu/lane.hpp"
#include "simt/cpu/search/schedule.hpp"
#include "simt/cpu/strategy.hpp"

namespace simt {

// Returns the choice of the default rule. Arguments and result are those of Strategy::next.
std::size_t default_next(std::span<Lane* const> runnable, std::size_t current, Reason reason, const Lane* asking);

// QuestionCounter numbers the questions that a strategy answers. It counts the questions of converged() by warp, and
// all others by the progress of the lane that asks. Lanes and warps store the counts. If one strategy asks another,
// only the outer one advances the counts, before it asks.
class QuestionCounter {
 public:
  struct Place {
    std::uint64_t lane;
    std::uint32_t step;
    std::uint32_t question;
  };
  explicit QuestionCounter(bool advances_lanes) : advances_lanes_(advances_lanes) {}
  // Counts a question of Strategy::next and returns its place.
  Place count(Lane* asking, Reason reason);
  // Returns the place of a question of converged(). The place belongs to the warp, because after changes elsewhere in
  // the schedule another lane may arrive first or form the group.
  Place count_gathering(const Lane& asking) const;
  Place count_group(const Lane& asking) const;
  // Returns the place of a store or load: the last counted step.
  static Place of_access(const Lane& asking) { return {asking.rank_in_grid, asking.counted_steps, 0}; }

 private:
  const bool advances_lanes_;
  std::uint32_t starts_ = 0;
};

}  // namespace simt
