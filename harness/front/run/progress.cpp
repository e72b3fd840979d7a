#include "harness/front/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "harness/front/common/output.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto plain_line_interval = std::chrono::seconds(2);
constexpr auto rewrite_interval = std::chrono::milliseconds(200);

}  // namespace

Progress::Progress(std::size_t cells, std::uint64_t steps, const TimeLimit& time, bool quiet)
    : cells_(cells), steps_(steps), time_(time), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_width_ > 0) tell("\n");
}

std::string Progress::line() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string text = fmt::format("[{}/{}] {}, elapsed {}", ended_, cells_, current_, format_duration(elapsed));
  if (done_ > 0 && done_ < steps_) {
    // The run ends at the time limit, even if steps are left.
    const double left = elapsed / static_cast<double>(done_) * static_cast<double>(steps_ - done_);
    text += fmt::format(", ETA {}", format_duration(std::min(left, time_.seconds_left())));
  }
  text += fmt::format(", {} failed", failures_);
  if (deferred_ > 0) text += fmt::format(", {} deferred", deferred_);
  return text;
}

void Progress::rewrite() {
  std::string text = line();
  const std::size_t columns = columns_of_stderr();
  if (text.size() >= columns) text.resize(columns - 1);
  const std::size_t width = text.size();
  // Blanks clear the rest of the line on every terminal, unlike an escape sequence.
  if (width < shown_width_) text.append(shown_width_ - width, ' ');
  shown_width_ = width;
  tell("\r{}", text);
  last_print_ = Clock::now();
}

void Progress::print(const std::string& text) {
  if (shown_width_ > 0) tell("\r{:{}}\r", "", shown_width_);
  shown_width_ = 0;
  tell("{}\n", text);
  last_print_ = Clock::now();
}

void Progress::say(const std::string& text) {
  if (!quiet_) print(fmt::format("allocbench: {}", text));
}

double Progress::seconds_per_step_left() const {
  return time_.seconds_left() / static_cast<double>(std::max<std::uint64_t>(1, steps_ - std::min(done_, steps_)));
}

void Progress::cell_ended(const std::string& name, Status status, const std::string& reason) {
  ++ended_;
  const bool failed = counts_as_failure(status);
  if (failed) ++failures_;
  if (quiet_) return;
  if (failed) {
    const bool in_colour = colours_on_stderr();
    print(fmt::format("{}{}{}: {}: {}", in_colour ? "\x1b[31m" : "", word(status), in_colour ? "\x1b[0m" : "", name,
                      reason));
  }
  current_ = name;
  if (terminal_) {
    rewrite();
  } else if (ended_ == cells_ || failed || Clock::now() - last_print_ >= plain_line_interval) {
    print(line());
  }
}

void Progress::deferred(const std::string& name, const std::string& reason) {
  ++deferred_;
  if (!quiet_) print(fmt::format("deferred: {}: {}", name, reason));
}

void Progress::tick() {
  if (!quiet_ && terminal_ && Clock::now() - last_print_ >= rewrite_interval) rewrite();
}

}  // namespace allocbench::front
