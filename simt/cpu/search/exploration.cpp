#include "simt/cpu/search/exploration.hpp"

#include "simt/common.hpp"

namespace simt {

void Exploration::begin_run() {
  depth_ = 0;
  preemptions_ = 0;
  ++runs_;
}

std::uint32_t Exploration::choose(std::uint32_t count, bool costs_preemption, std::uint64_t witness) {
  if (costs_preemption && preemptions_ == max_preemptions_) count = 1;
  if (depth_ == path_.size()) {
    path_.push_back({0, count, costs_preemption, witness});
  } else if (path_[depth_].count != count || path_[depth_].witness != witness) {
    // No exception is thrown, because this code runs on the stack of a lane.
    diverged_ = true;
    return 0;
  }
  const Point& point = path_[depth_++];
  if (point.costs && point.taken != 0) ++preemptions_;
  return point.taken;
}

bool Exploration::advance() {
  if (diverged_ || depth_ < path_.size()) {
    throw Fault(FaultKind::nondeterminism, "exploration: run " + std::to_string(runs_) +
                                               " had other choices than an earlier run with the same decisions; "
                                               "something besides the schedule has an influence");
  }
  while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
  exhausted_ = path_.empty();
  if (!exhausted_) ++path_.back().taken;
  return !exhausted_;
}

}  // namespace simt
