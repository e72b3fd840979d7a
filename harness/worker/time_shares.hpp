// This file divides the wall time of a worker into parts, such as loading plug-ins, verification and samples.
#pragma once

#include <array>
#include <chrono>
#include <numeric>
#include <string_view>

namespace allocbench::worker {

enum class Part {
  start,      // from main() to `ready`: loading plug-ins, opening the device
  allocator,  // creating instances
  open,       // opening cells: inputs, buffers, loading kernels
  contents,   // verification: passes with content checks and counts, and the trace
  leaks,      // verification: the leak check
  resets,     // verification: reset(), free(null) and the invariants
  deadlines,  // stages of verification that ended at their deadline
  reset,      // sampling: making the allocator new
  kernels,    // sampling: the timed phases
  pointers,   // sampling: checking the pointers that the kernels recorded
  other,      // sampling: the rest (poisoned slots, flushed caches, clocks, energy)
  waiting     // waiting for the next command
};

class TimeShares {
 public:
  static constexpr std::array<std::string_view, 12> names{"start",   "allocator", "open",      "contents",
                                                          "leaks",   "resets",    "deadlines", "reset",
                                                          "kernels", "pointers",  "other",     "waiting"};

  // Time belongs to the innermost scope that is open.
  class Scope {
   public:
    Scope(TimeShares& shares, Part part) : shares_(shares), outer_(shares.current_) { shares_.enter(part); }
    ~Scope() { shares_.enter(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TimeShares& shares_;
    Part outer_;
  };

  // Moves time that was measured in another way from the current part to `part`.
  void move_to(Part part, double seconds) {
    at(part) += seconds;
    at(current_) -= seconds;
  }
  // Assigns all time after `before` to `part`. `before` is an earlier value of seconds().
  void claim_since(const std::array<double, names.size()>& before, Part part) {
    const std::array<double, names.size()> now = seconds();
    const auto sum = [](const auto& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); };
    seconds_ = before;
    at(part) += sum(now) - sum(before);
  }
  // Discards the time so far, in which another worker may have run. beside() keeps the part `start` of this time.
  void begin_again() {
    enter(current_);
    beside_ = at(Part::start);
    seconds_ = {};
  }
  // Returns the seconds of the part `start` until begin_again(), in which another worker may have run.
  double beside() const { return beside_; }
  // Returns the seconds of each part until now, in the order of `names`.
  std::array<double, names.size()> seconds() {
    enter(current_);
    return seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double& at(Part part) { return seconds_[static_cast<std::size_t>(part)]; }
  void enter(Part part) {
    const Clock::time_point now = Clock::now();
    at(current_) += std::chrono::duration<double>(now - since_).count();
    since_ = now;
    current_ = part;
  }

  std::array<double, names.size()> seconds_{};
  double beside_ = 0;
  Part current_ = Part::start;
  Clock::time_point since_ = Clock::now();
};

}  // namespace allocbench::worker
