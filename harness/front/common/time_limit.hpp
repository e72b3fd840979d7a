// TimeLimit is the time limit of a run (--minutes). This class only states how much time is left. After the limit, the
// supervisor begins no round, and WorkerSession ends the running command.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

namespace allocbench::front {

// Returns the seconds as a duration of the clock of all waits. Longer times than a hundred years count as these,
// because a duration cannot be infinite.
inline std::chrono::steady_clock::duration duration_of(double seconds) {
  constexpr double most = 100 * 365.25 * 24 * 3600;
  const double finite = seconds < most ? seconds : most;
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(finite));
}

class TimeLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // The limit starts now; nullopt means no limit.
  explicit TimeLimit(std::optional<double> seconds) {
    if (seconds) end_ = Clock::now() + duration_of(*seconds);
  }

  bool exists() const { return end_.has_value(); }
  bool over() const { return end_ && Clock::now() >= *end_; }
  double seconds_left() const {
    if (!end_) return std::numeric_limits<double>::infinity();
    return std::max(0.0, std::chrono::duration<double>(*end_ - Clock::now()).count());
  }

 private:
  std::optional<Clock::time_point> end_;
};

}  // namespace allocbench::front
