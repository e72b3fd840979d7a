#include "harness/front/run/batch_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/run/stopping.hpp"
#include "harness/front/run/trial_limits.hpp"

namespace allocbench::front {
namespace {

// Returns a value for each phase: the largest one of the phase's kernels.
std::vector<std::pair<std::string, std::uint64_t>> largest_by_phase(const protocol::Opened& opened,
                                                                    std::uint64_t protocol::Kernel::*member) {
  std::vector<std::pair<std::string, std::uint64_t>> largest;
  for (const protocol::Kernel& kernel : opened.kernels) {
    const auto same =
        std::find_if(largest.begin(), largest.end(), [&](auto& each) { return each.first == kernel.phase; });
    if (same == largest.end()) {
      largest.emplace_back(kernel.phase, kernel.*member);
    } else {
      same->second = std::max(same->second, kernel.*member);
    }
  }
  return largest;
}

// Returns whether a stage of the verification reached its time limit.
bool is_unfinished(const protocol::Checks& checks) {
  const auto stops = [](const auto& verdict) { return verdict.value_or("").starts_with("not finished"); };
  return stops(checks.content) || stops(checks.leak) || stops(checks.reset);
}

}  // namespace

BatchRunner::BatchRunner(const Batch& batch, std::vector<CellRun*> cells, WorkerSession& session, CellBook book,
                         const Batch* follower)
    : batch_(batch), cells_(std::move(cells)), session_(session), book_(book), follower_(follower) {}

bool BatchRunner::run_round(const std::function<bool(const CellRun&)>& is_due) {
  for (CellRun* run : cells_) {
    if (!run->is_open()) continue;  // the cell ended with its whole batch
    if (book_.time.over()) return true;
    if (!is_due(*run)) continue;
    if (interrupted()) return false;
    if (!begin(*run)) continue;
    const End end = measure(*run);
    if (end == End::interrupted) return false;
    if (end == End::out_of_time) return true;
  }
  return true;
}

BatchRunner::End BatchRunner::measure(CellRun& run) {
  End end = take_samples(run);
  if (end == End::done && run.rounds.empty()) end = verify(run);
  return end == End::done ? finish(run) : end;
}

// Begins a round of the cell. Returns false if the cell gets none, because it has ended or is deferred.
bool BatchRunner::begin(CellRun& run) {
  book_.progress.working_on(run.cell->name);
  run.running.clear();
  run.used_seconds = 0;
  run.fill = {};
  if (!run.rounds.empty()) {
    // An interrupted run may have logged a cell's last round but not the cell's end. Then this call only writes the
    // end.
    const auto reason = reason_to_stop(*run.cell, run.rounds, run.wall_seconds);
    if (reason) book_.end(run, {.stop = *reason});
    return !reason;
  }
  if (const auto reason = book_.forecaster.reason_to_skip(book_.figure, *run.cell)) {
    book_.end(run, {Status::skipped, *reason});
    return false;
  }
  book_.start(run);
  // The cell is deferred if the short deadline would end the fill of the pool, because the attempt would only cost time
  // and a worker. A cell that can start from a copy of a filled pool needs no fill.
  const std::optional<Trial> trial = sample_limits(run).trial;
  const double fill = book_.forecaster.fill_seconds_of_series(*run.cell);
  if (trial && fill > trial->fill && !session_.has_measured_like(*run.cell)) {
    book_.defer(run,
                fmt::format("filling the pool probably takes at least {}, but a first round has {} for it",
                            format_limit(fill), format_limit(trial->fill)),
                false);
    return false;
  }
  return true;
}

// On a GPU, or if time is limited, the first round has a short deadline, so that a hang costs little time. Without a
// time limit the CPU back end has no short deadline, because times of the CPU executor do not predict hangs. A deferred
// cell has no short deadline either. A cell whose first round ended well seldom fails, so later rounds do not report
// stages.
SampleLimits BatchRunner::sample_limits(const CellRun& run) const {
  SampleLimits limits{.seconds = left_of_deadline(run), .trial = {}, .stages = run.rounds.empty()};
  const bool is_quick = book_.time.exists() || run.cell->backend == "cuda";
  if (!is_quick || !run.rounds.empty() || run.state == CellState::deferred) return limits;
  const Forecast forecast = book_.forecaster.about(book_.figure, *run.cell);
  double timed = least_trial_seconds;
  if (forecast.is_known) timed = std::max(timed, trial_factor * forecast.seconds);
  const double other = trial_of_other_stages * timed;
  const double of_pool = trial_seconds_per_filled_gib * static_cast<double>(run.cell->pool_bytes) / (1 << 30);
  const double foreseen =
      std::min(run.cell->deadline_seconds, trial_factor_of_fill * book_.forecaster.fill_seconds(*run.cell));
  const double usual = std::max(trial_share_of_deadline * run.cell->deadline_seconds, foreseen);
  const double fill = std::min(usual, trial_share_of_run * book_.time.seconds_left());
  limits.trial = Trial{.timed = timed, .fill = std::max({other, of_pool, fill}), .other = other};
  return limits;
}

BatchRunner::End BatchRunner::take_samples(CellRun& run) {
  while (true) {
    if (interrupted()) return End::interrupted;
    const bool alone = needs_own_process(run) && run.cell->state == "fresh";
    // If each sample needs its own process, a cell with several rounds takes one sample per round. A round counts as
    // one value, so more processes in a round would hardly narrow the interval.
    if (alone && run.cell->rounds > 1 && !run.running.empty()) return End::done;
    const std::uint64_t count = samples_to_ask_for(*run.cell, run.running, run.rounds);
    if (count == 0) return End::done;
    if (alone && !run.running.empty()) session_.retire();
    if (const End opened = ensure_open(run); opened != End::done) return opened;
    const auto take = [&](protocol::Sample sample) {
      book_.log.sample(*run.cell, run.attempt, run.rounds.size(), run.running.size(), sample);
      run.running.push_back(std::move(sample));
    };
    if (run.running.empty()) run.fill.follows = session_.has_measured_like(*run.cell);
    const Outcome outcome = session_.sample(*run.cell, alone ? 1 : count, sample_limits(run), take);
    run.fill.seconds += outcome.fill_seconds;
    const End end = judge(run, outcome, fmt::format("in sample {}", run.running.size() + 1));
    if (end != End::done) return end;
  }
}

// A measured cell keeps its value even if the time is too short for its whole verification. If the verification finds a
// mistake, the cell has no value.
BatchRunner::End BatchRunner::verify(CellRun& run) {
  // The counts of a full verification, which a figure may show, depend on the state of the heap. So a cell that needs
  // its own process gets a new process for a full verification. Other verifications find mistakes in a used heap, too.
  if (run.cell->verifies_fully && needs_own_process(run)) session_.retire();
  if (const End opened = ensure_open(run); opened != End::done) return opened;
  const Outcome outcome = session_.verify(*run.cell, verify_limits(run), left_of_deadline(run));
  if (outcome.kind == Outcome::Kind::failed && outcome.failure.reason == protocol::no_answer_reason) {
    run.used_seconds += outcome.seconds;
    protocol::Checks checks;
    checks.content = fmt::format("not finished: no answer after {}", format_limit(outcome.seconds));
    if (!session_.stage().empty()) *checks.content += fmt::format(" in {}", session_.stage());
    run.facts.checks = std::move(checks);
  } else {
    const End end = judge(run, outcome, "in the verification");
    if (end != End::done) return end;
    const auto& verified = std::get<protocol::Verified>(*outcome.event);
    run.facts.checks = verified.checks;
    run.facts.counted = verified.counted;
    if (is_unfinished(verified.checks)) book_.forecaster.note_unfinished_check(*run.cell);
    if (verified.stale) session_.retire();
  }
  if (!run.cell->trace.empty()) {
    book_.progress.say(fmt::format("trace in {}: {}", run.cell->trace, run.facts.checks->trace.value_or("none")));
  }
  book_.log.verified(*run.cell, run.attempt, run.facts);
  book_.progress.steps_done(1);
  return End::done;
}

VerifyLimits BatchRunner::verify_limits(const CellRun& run) const {
  VerifyLimits limits;
  const double left = std::max(0.0, left_of_deadline(run)) * share_of_stage;
  limits.stage_seconds = left;
  if (run.cell->verifies_fully) return limits;
  const bool is_short = book_.time.exists() && book_.forecaster.expects_unfinished_check(*run.cell);
  const StageLimits& stage = is_short ? stage_limits_after_an_unfinished_check : stage_limits;
  limits.contents_seconds =
      std::min(std::max(run.used_seconds, least_contents_seconds), book_.progress.seconds_per_step_left());
  limits.stage_seconds = std::min(left, std::max(stage.least_seconds, stage.factor * *limits.contents_seconds));
  return limits;
}

// Ends the round of a cell that has its samples.
BatchRunner::End BatchRunner::finish(CellRun& run) {
  if (session_.is_open(*run.cell)) {
    const End closed = judge(run, session_.close(*run.cell, left_of_deadline(run)), "in close");
    if (closed != End::done) return closed;
  }
  book_.log.round(*run.cell, run.attempt, run.rounds.size(), run.running.size(), run.used_seconds, run.fill.seconds);
  if (run.rounds.empty()) book_.forecaster.note_round(book_.figure, *run.cell, run.used_seconds, run.fill);
  run.state = CellState::waiting;
  run.add_round();
  book_.progress.steps_done(1);
  if (const auto reason = reason_to_stop(*run.cell, run.rounds, run.wall_seconds)) book_.end(run, {.stop = *reason});
  return End::done;
}

// Starts a worker, loads the allocator and opens the cell, if necessary. Only an open cell shows whether its worker is
// suitable.
BatchRunner::End BatchRunner::ensure_open(CellRun& run) {
  if (session_.is_open(*run.cell)) return End::done;
  if (run.uses_device_heap && needs_own_process(run)) session_.retire();
  if (const End opened = open(run); opened != End::done) return opened;
  // The worker may have another device heap than the batch needs. Earlier cells may have used a heap that this cell
  // needs fresh.
  const bool has_heap = !needs_heap(run) || session_.has_heap_of(batch_);
  if (has_heap && (!needs_own_process(run) || session_.is_only(*run.cell))) return End::done;
  session_.retire();
  return open(run);
}

// Returns the probable batch of the worker after the one that opens this cell.
const Batch* BatchRunner::next_to_start(const CellRun& run) const {
  const bool is_alone = run.uses_device_heap.value_or(!batch_.has_heap_share) && needs_own_process(run);
  const bool is_done_here = &run == cells_.back() && (!run.rounds.empty() || !run.running.empty());
  return is_alone && !is_done_here ? &batch_ : follower_;
}

BatchRunner::End BatchRunner::open(CellRun& run) {
  session_.expect(next_to_start(run));
  // The set-up belongs to no single cell, so it has its own time limit: the longest deadline of the cells.
  double set_up_limit = 0;
  for (const CellRun* each : cells_) set_up_limit = std::max(set_up_limit, each->cell->deadline_seconds);
  const Outcome loaded = session_.load(batch_, needs_heap(run), set_up_limit);
  if (loaded.kind == End::failed) {
    // No cell of this pass can run without the allocator.
    CellEnd failure = loaded.failure;
    failure.reason = fmt::format("while the allocator was set up: {}", failure.reason);
    for (CellRun* each : cells_) {
      if (each->is_open()) book_.end(*each, failure);
    }
  }
  if (loaded.kind != End::done) return loaded.kind;
  const Outcome outcome = session_.open(*run.cell, left_of_deadline(run));
  const End end = judge(run, outcome, "in open");
  if (end != End::done) return end;
  const auto& opened_cell = std::get<protocol::Opened>(*outcome.event);
  run.uses_device_heap = opened_cell.uses_device_heap;
  if (!run.rounds.empty()) return end;
  run.facts = session_.facts();
  run.facts.registers = largest_by_phase(opened_cell, &protocol::Kernel::registers);
  run.facts.local_bytes = largest_by_phase(opened_cell, &protocol::Kernel::local_bytes);
  return end;
}

// Adds the command's time to the cell's used time, and ends or defers a cell whose command failed.
BatchRunner::End BatchRunner::judge(CellRun& run, const Outcome& outcome, const std::string& doing) {
  run.used_seconds += outcome.seconds;
  if (outcome.kind == End::failed) fail(run, outcome, doing);
  return outcome.kind;
}

void BatchRunner::fail(CellRun& run, const Outcome& outcome, const std::string& doing) {
  CellEnd failure = outcome.failure;
  book_.forecaster.note_fill(*run.cell, run.fill.seconds);
  if (outcome.on_trial) {
    book_.defer(run, fmt::format("took more than {} {}", format_limit(outcome.seconds), while_in(doing)), true);
    return;
  }
  if (failure.status == Status::timeout && failure.reason == protocol::no_answer_reason) {
    failure.reason =
        fmt::format("used its deadline of {} {}", format_limit(run.cell->deadline_seconds), while_in(doing));
  } else if (failure.status == Status::crashed) {
    failure.reason = fmt::format("{} {}", failure.reason, doing);
  }
  if (!run.rounds.empty()) failure.reason += fmt::format(" of round {}", run.rounds.size() + 1);
  book_.end(run, failure);
}

// Describes what the worker did when it stopped answering.
std::string BatchRunner::while_in(const std::string& doing) const {
  const std::string& stage = session_.stage();
  if (stage == "fill") return "while the pool was filled";
  if (stage == "drain") return "while the blocks that filled the pool were freed";
  if (stage == "prepare") return fmt::format("while the allocator was reset and inputs were prepared, {}", doing);
  if (stage == "judge") return fmt::format("while pointers were checked, {}", doing);
  return doing;
}

// A cell that does not use the allocator's share of the device heap can be measured with a heap of any size. Most cells
// do not use the share, so a cell is treated in this way until its worker reports that it uses the share.
bool BatchRunner::needs_heap(const CellRun& run) const {
  return !batch_.has_heap_share || run.uses_device_heap.value_or(false);
}

// An allocator that cannot be reset is fresh only in a new process, so each fresh sample needs one. An allocator that
// keeps memory of the device heap must not pass this memory to another cell in any state. If only a share of the pool
// is in the device heap, neither rule applies to cells that do not use this share.
bool BatchRunner::needs_own_process(const CellRun& run) const {
  return batch_.isolates(*run.cell) && (!batch_.has_heap_share || run.uses_device_heap.value_or(true));
}

}  // namespace allocbench::front
