#include "harness/front/run/cell_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/units.hpp"

namespace allocbench::front {

std::uint64_t CellRun::steps_left() const {
  if (!is_open()) return 0;
  const std::uint64_t verification = facts.checks ? 0 : 1;
  return verification + cell->rounds - std::min<std::uint64_t>(cell->rounds, rounds.size());
}

void CellRun::add_round() {
  // The first round includes the verification, which is assumed to take as long as the samples. A later round may
  // contain a fill that it does not report, so the shortest round counts.
  seconds_of_next_round =
      rounds.empty() ? (used_seconds - fill.seconds) / 2 : std::min(seconds_of_next_round, used_seconds);
  wall_seconds += used_seconds;
  rounds.push_back(std::move(running));
  running.clear();
}

CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin) {
  CellRun run{.cell = &cell};
  if (known == nullptr) return run;
  run.in_log = true;
  run.attempt = known->attempts;
  if (known->deferred) run.state = CellState::deferred;
  run.has_earlier_end = known->end && !known->end->left_out;
  // A verified attempt without a round also begins anew, because the verification is a part of the first round.
  const bool goes_on = !known->end && known->open.verified && !known->open.rounds.empty();
  if (!goes_on || difference(known->open.origin, origin)) return run;
  run.started = true;
  run.facts = known->open.facts;
  run.rounds = known->open.rounds;
  run.wall_seconds = known->open.seconds;
  // The mean counts the first round as two, because this round includes the verification.
  run.seconds_of_next_round =
      (known->open.seconds - known->fill_seconds) / (static_cast<double>(run.rounds.size()) + 1);
  return run;
}

void CellBook::start(CellRun& run) {
  if (run.started) return;
  if (!run.in_log) log.cell(*run.cell);
  run.in_log = true;
  run.started = true;
  log.start(*run.cell, ++run.attempt);
}

void CellBook::end(CellRun& run, const CellEnd& end) {
  start(run);  // a skipped cell also has a start, because every end has one
  log.end(*run.cell, run.attempt, end);
  forecaster.note_end(figure, *run.cell, end.status);
  progress.steps_done(run.steps_left());
  run.state = CellState::ended;
  if (end.status != Status::ok) run.rounds.clear();  // the cell has no value any more
  if (!run.cell->trace.empty() && end.status != Status::ok) {
    progress.say(fmt::format("no trace in {}: {}: {}", run.cell->trace, word(end.status), end.reason));
  }
  progress.cell_ended(run.cell->name, end.status, end.short_reason());
}

void CellBook::defer(CellRun& run, const std::string& reason, bool tried) {
  log.deferred(*run.cell, run.attempt, reason, run.fill.seconds, tried);
  if (tried) forecaster.note_deferred(figure, *run.cell);
  run.state = CellState::deferred;
  run.started = false;  // the next try is a new attempt
  progress.deferred(run.cell->name, reason);
}

void CellBook::leave(CellRun& run) {
  if (run.rounds.size() >= run.cell->least_rounds) return end(run, {.stop = stop::time});
  if (run.rounds.empty() && !run.has_earlier_end) {
    const Forecast forecast = forecaster.about(figure, *run.cell);
    std::string why = forecast.reason;
    if (run.state == CellState::deferred)
      why = "deferred, because its first round reached a short deadline or certainly would have";
    CellEnd left_out{
        .status = Status::skipped, .reason = "the time limit of the run was reached before its turn", .left_out = true};
    if (!why.empty()) left_out.reason += fmt::format(" ({})", why);
    if (forecast.is_known) left_out.expected_seconds = forecast.seconds;
    start(run);
    log.end(*run.cell, run.attempt, left_out);
  }
  progress.steps_done(run.steps_left());
  run.state = CellState::left;
}

}  // namespace allocbench::front
