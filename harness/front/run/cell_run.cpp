#include "harness/front/run/cell_run.hpp"

#include <algorithm>

namespace allocbench::front {

CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin) {
  CellRun run{.cell = &cell, .steps_left = 1 + cell.rounds};
  if (known == nullptr) return run;
  run.known_to_log = true;
  run.attempt = known->attempts;
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
  run.ended = true;
  if (end.status == Status::timeout) watch.note_timeout(run.cell->series, run.cell->growth);
  progress.steps_done(run.steps_left);
  run.steps_left = 0;
  progress.cell_ended(run.cell->name, end.status, end.short_reason());
}

}  // namespace allocbench::front
