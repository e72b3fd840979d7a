#include "harness/front/run/cell_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/front/run/stopping.hpp"

namespace allocbench::front {

CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin) {
  CellRun run{.cell = &cell, .steps_left = 1 + cell.rounds};
  if (known == nullptr) return run;
  run.known_to_log = true;
  run.attempt = known->attempts;
  run.has_end = known->end.has_value();
  if (known->end || !known->open.verified || difference(known->open.origin, origin)) return run;  // a new attempt
  run.started = true;
  run.verified = true;
  run.facts = known->open.facts;
  run.rounds = known->open.rounds;
  run.wall_seconds = known->open.seconds;
  run.steps_left = cell.rounds - std::min<std::uint64_t>(cell.rounds, run.rounds.size());
  return run;
}

void CellBook::start(CellRun& run) {
  if (run.started) return;
  if (!run.known_to_log) log.cell(*run.cell);
  run.known_to_log = true;
  run.started = true;
  log.start(*run.cell, ++run.attempt);
}

void CellBook::step_done(CellRun& run) {
  if (run.steps_left == 0) return;
  --run.steps_left;
  progress.steps_done(1);
}

void CellBook::end(CellRun& run, const CellEnd& end) {
  start(run);  // a skipped cell has a start as well: every end has one
  log.end(*run.cell, run.attempt, end);
  watch.note_end(figure, *run.cell, end.status);
  close(run, end.status, end.short_reason());
}

void CellBook::stop_for_time(CellRun& run) {
  if (run.rounds.size() >= run.cell->least_rounds) return end(run, {.stop = stop::time});
  run.cut = true;
}

void CellBook::leave_out(CellRun& run, const std::string& why) {
  run.out_of_time = true;
  const std::string reason = fmt::format("{} ({}); then the time of --minutes was used up", want_of_time, why);
  if (run.has_end) return close(run, Status::skipped, reason + ", so its earlier status stays");
  CellEnd end_of_run{.status = Status::skipped, .reason = reason, .left_out = true};
  if (std::isfinite(run.expected.seconds) && run.expected.seconds > 0) {
    end_of_run.expected_seconds = run.expected.seconds;
  }
  end(run, end_of_run);
}

void CellBook::close(CellRun& run, Status status, const std::string& reason) {
  run.ended = true;
  progress.steps_done(run.steps_left);
  run.steps_left = 0;
  progress.cell_ended(run.cell->name, status, reason);
}

}  // namespace allocbench::front
