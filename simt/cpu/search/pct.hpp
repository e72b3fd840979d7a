// PCT, probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi & Nagarakatte, ASPLOS 2010, section 3).
//
// Every lane has a random priority and the highest runnable one runs; at d - 1 random points the running lane falls
// below all others. A bug that needs d ordering constraints among n lanes and k steps shows with probability of at
// least 1 / (n k^(d-1)): it finds rare interleavings of few preemptions, which random switching rarely makes.
//
// Differs from the paper: a lane that waits (spin_hint(), converged()) falls below all others, so that the lane it
// waits for can run; k is drawn from the seed, by the number of lanes that begin, unless the caller knows it.
#pragma once

#include <vector>

#include "simt/cpu/strategy.hpp"

namespace simt {

class PctStrategy final : public Strategy {
 public:
  // `depth` is d and `expected_steps` k; 0 draws them from the seed: 2 … 4, and 4 … 128 for each lane.
  PctStrategy(std::uint64_t seed, std::uint32_t depth, std::uint64_t expected_steps, GroupDraw groups);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  void place_changes(std::size_t lanes);

  std::uint64_t seed_;
  std::uint64_t expected_steps_;
  std::uint64_t steps_per_lane_ = 0;
  std::vector<std::uint64_t> changes_;  // steps of the launch, ascending
  std::size_t changes_done_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t lowest_;           // priorities are given downwards from here; drawn ones lie above
  std::size_t runnable_seen_ = 0;  // lanes at the last look: a set that did not grow has the same highest lane
};

}  // namespace simt
