// Progress shows the user on stderr what a run does. On a terminal it rewrites one line, otherwise it prints plain
// lines. With `quiet` it prints nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "harness/front/common/time_limit.hpp"
#include "protocol/status.hpp"

namespace allocbench::front {

class Progress {
 public:
  // Steps are verifications and rounds. The remaining time is estimated from them, because many cells end only near the
  // end of a run.
  Progress(std::size_t cells, std::uint64_t steps, const TimeLimit& time, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void working_on(const std::string& what) { current_ = what; }
  void steps_done(std::uint64_t count) { done_ += count; }
  void cell_ended(const std::string& name, Status status, const std::string& reason);
  // Reports that a cell will be tried again when all others are done.
  void deferred(const std::string& name, const std::string& reason);
  // Prints a separate line.
  void say(const std::string& text);
  // Updates the elapsed time on a terminal. Call it while waiting.
  void tick();

  std::size_t failures() const { return failures_; }
  // Returns the time that is left for each step, in seconds. It is infinite without a time limit.
  double seconds_per_step_left() const;

 private:
  std::string line() const;
  void rewrite();
  void print(const std::string& text);

  std::size_t cells_;
  std::uint64_t steps_;
  TimeLimit time_;
  bool quiet_;
  bool terminal_;
  std::size_t ended_ = 0;
  std::size_t failures_ = 0;
  std::size_t deferred_ = 0;
  std::uint64_t done_ = 0;
  std::size_t shown_width_ = 0;  // width of the line that a terminal shows; 0: none
  std::string current_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_print_ = start_;
};

}  // namespace allocbench::front
