// The warm-ups of a cell are repetitions before its first sample. Only a long one counts as a sample.
//
// On a GPU, a warm-up of sampling_seconds or more is used as a sample, if the allocator starts every repetition fresh.
// Such a warm-up takes all the time that a round has for samples, and caches and the TLB are warm long before its end.
// The CPU back end does not do this, because its times have no meaning. A worker that is run by hand does not do it
// either, because profilers search for the range `sample`.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

class WarmUps {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  // A warm-up of `long_seconds` or more counts as a sample.
  WarmUps(std::uint64_t count, double long_seconds) : left_(count), long_seconds_(long_seconds) {}

  // Returns the next sample. repeat(name, least) makes a repetition with this name and returns its sample. If the
  // repetition takes less than `least` seconds, the sample needs only the time.
  template <class Repeat>
  Sample sample(const Repeat& repeat) {
    while (left_ > 0) {
      Sample warm_up = repeat(std::string_view("warm-up"), long_seconds_);
      --left_;
      if (warm_up.seconds < long_seconds_) continue;
      left_ = 0;
      return warm_up;
    }
    return repeat(std::string_view("sample"), 0.0);
  }

 private:
  std::uint64_t left_;
  double long_seconds_;
};

}  // namespace allocbench::worker
