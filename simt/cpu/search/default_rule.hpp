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

// Names the questions that lanes are asked, by how far each lane has come. Every question must pass through here once.
class QuestionCounter {
 public:
  struct Place {
    std::uint64_t lane;
    std::uint32_t step;
    std::uint32_t question;
  };
  // For Strategy::next.
  Place count(Lane* asking, Reason reason);
  // For the questions of converged().
  static Place count_group(Lane& asking) {
    return {asking.rank_in_grid, asking.counted_steps, ++asking.counted_questions};
  }

 private:
  std::uint32_t starts_ = 0;
};

}  // namespace simt
