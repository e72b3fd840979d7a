// PctStrategy is PCT, probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi & Nagarakatte, ASPLOS 2010,
// section 3).
//
// Every lane has a random priority, and the runnable lane with the highest priority runs. At d - 1 random points, the
// running lane falls below all others. A bug that needs d ordering constraints among n lanes and k steps appears with a
// probability of at least 1 / (n k^(d-1)). So PCT finds rare interleavings of few preemptions, which random switching
// rarely makes.
//
// Differs from the paper: A lane that waits (spin_hint(), converged()) falls below all others, so that the lane for
// which it waits can run. Unless the caller knows k, it is drawn from the seed and scaled by the number of lanes that
// begin.
#pragma once

#include <vector>

#include "simt/cpu/strategy.hpp"

namespace simt {

class PctStrategy final : public Strategy {
 public:
  // `depth` is d and `expected_steps` is k. For 0, the seed determines d from 2 … 4, and k from 4 … 128 for each lane.
  PctStrategy(std::uint64_t seed, std::uint32_t depth, std::uint64_t expected_steps, GroupDraw groups);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  void place_changes(std::size_t lanes);

  std::uint64_t seed_;
  std::uint64_t expected_steps_;
  std::uint64_t steps_per_lane_ = 0;
  std::vector<std::uint64_t> changes_;  // steps of the launch with a change of priority, ascending
  std::size_t changes_done_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t lowest_;  // next lower priority; drawn priorities are higher
  // Number of runnable lanes at the last question. If it did not grow, the same lane has the highest priority.
  std::size_t runnable_seen_ = 0;
};

}  // namespace simt
