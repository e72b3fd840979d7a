#include "simt/cpu/search/pct.hpp"

#include <algorithm>

#include "simt/cpu/lane.hpp"

namespace simt {
namespace {

constexpr std::uint64_t lowest_drawn = std::uint64_t{1} << 63;

// The strategy keeps the priority in the lane. It is 0 until the strategy first looks at the lane.
std::uint64_t& priority_of(Lane& lane) { return lane.strategy_state; }

}  // namespace

PctStrategy::PctStrategy(std::uint64_t seed, std::uint32_t depth, std::uint64_t expected_steps, GroupDraw groups)
    : Strategy(groups), seed_(mix64(seed)), expected_steps_(expected_steps), lowest_(lowest_drawn - 1) {
  Random random(seed);
  if (depth == 0) depth = 2 + random.below(3);
  // A change after the end of the launch has no effect. A change that is too early affects only the first steps.
  if (expected_steps_ == 0) steps_per_lane_ = std::uint64_t{4} << random.below(6);
  for (std::uint32_t i = 1; i < depth; ++i) changes_.push_back(random.next());
}

// Places the changes within the expected steps, which may follow from the number of lanes of the launch.
void PctStrategy::place_changes(std::size_t lanes) {
  if (expected_steps_ == 0) expected_steps_ = steps_per_lane_ * lanes;
  for (std::uint64_t& change : changes_) change = 1 + change % expected_steps_;
  std::sort(changes_.begin(), changes_.end());
}

std::size_t PctStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) {
  if (steps_++ == 0) place_changes(runnable.size());
  const bool grew = runnable.size() > runnable_seen_;
  runnable_seen_ = runnable.size();
  bool demote = reason == Reason::spin || reason == Reason::gather;
  if (changes_done_ < changes_.size() && steps_ >= changes_[changes_done_]) {
    ++changes_done_;
    demote = true;
  }
  if (demote && asking != nullptr) {
    priority_of(*asking) = --lowest_;
  } else if (reason == Reason::atomic && !grew) {
    return current;
  }
  std::size_t highest = 0;
  for (std::size_t i = 0; i < runnable.size(); ++i) {
    std::uint64_t& priority = priority_of(*runnable[i]);
    if (priority == 0) priority = mix64(seed_ + runnable[i]->rank_in_grid) | lowest_drawn;
    if (priority > priority_of(*runnable[highest])) highest = i;
  }
  return highest;
}

std::string PctStrategy::description() const {
  return "pct d=" + std::to_string(changes_.size() + 1) + " over " + std::to_string(expected_steps_) + " steps";
}

}  // namespace simt
