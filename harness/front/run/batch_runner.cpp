#include "harness/front/run/batch_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/units.hpp"
#include "harness/front/run/interrupt.hpp"

namespace allocbench::front {
namespace {

// Registers by phase; a phase of several kernels counts with its largest.
std::vector<std::pair<std::string, std::uint64_t>> registers_from(const protocol::Opened& opened) {
  std::vector<std::pair<std::string, std::uint64_t>> registers;
  for (const protocol::Kernel& kernel : opened.kernels) {
    const auto same =
        std::find_if(registers.begin(), registers.end(), [&](auto& each) { return each.first == kernel.phase; });
    if (same == registers.end()) {
      registers.emplace_back(kernel.phase, kernel.registers);
    } else {
      same->second = std::max(same->second, kernel.registers);
    }
  }
  return registers;
}

}  // namespace

BatchRunner::BatchRunner(const Batch& batch, std::uint64_t device_heap_bytes, std::vector<CellRun*> cells,
                         RunContext context)
    : batch_(batch), device_heap_bytes_(device_heap_bytes), cells_(std::move(cells)), context_(context) {}

bool BatchRunner::run_round(std::uint64_t round, bool last_round) {
  const auto wants_more = [&](const CellRun& run) {
    return !run.ended && run.samples < run.cell->repetitions * (round + 1);
  };
  for (CellRun* run : cells_) {
    if (run->ended) continue;
    if (prepare(*run) == Step::interrupted) return false;
    if (run->cell->state != "reused") continue;
    while (wants_more(*run)) {
      if (take_sample(*run) == Step::interrupted) return false;
    }
    if (finish(*run, last_round) == Step::interrupted) return false;
  }
  const auto any = [&] {
    return std::any_of(cells_.begin(), cells_.end(), [&](auto* run) { return wants_more(*run); });
  };
  while (any()) {
    for (CellRun* run : cells_) {
      if (wants_more(*run) && take_sample(*run) == Step::interrupted) return false;
    }
  }
  for (CellRun* run : cells_) {
    if (!run->ended && finish(*run, last_round) == Step::interrupted) return false;
  }
  context_.session.stop();
  return true;
}

// Logs the start, opens and verifies. Later rounds have done that already.
BatchRunner::Step BatchRunner::prepare(CellRun& run) {
  if (run.verified) return Step::done;
  if (interrupted()) return Step::interrupted;
  context_.progress.working_on(run.cell->name);
  if (skip_if_hopeless(run)) return Step::cell_ended;
  log_start(run);
  Step step = ensure_open(run);
  if (step != Step::done) return step;
  Outcome outcome;
  step = charge(run, &WorkerSession::verify, "verification", outcome);
  if (step != Step::done) return step;
  auto& verified = std::get<protocol::Verified>(*outcome.event);
  run.facts.checks = std::move(verified.checks);
  run.facts.counted = std::move(verified.counted);
  run.verified = true;
  --run.steps_left;
  context_.progress.steps_done(1);
  return Step::done;
}

bool BatchRunner::skip_if_hopeless(CellRun& run) {
  const auto reason = context_.watch.reason_to_skip(run.cell->series, run.cell->growth);
  if (reason) end(run, {Status::skipped, *reason});
  return reason.has_value();
}

BatchRunner::Step BatchRunner::take_sample(CellRun& run) {
  if (interrupted()) return Step::interrupted;
  context_.progress.working_on(run.cell->name);
  // Two smaller cells may have timed out since this one was opened. Samples that exist are not given up.
  if (run.samples == 0 && skip_if_hopeless(run)) return Step::cell_ended;
  if (needs_new_worker(run)) context_.session.stop();
  const Step opened = ensure_open(run);
  if (opened != Step::done) return opened;
  Outcome outcome;
  const Step sampled = charge(run, &WorkerSession::sample, fmt::format("sample {}", run.samples + 1), outcome);
  if (sampled != Step::done) return sampled;
  context_.log.sample(*run.cell, run.attempt, run.samples, std::get<protocol::Sample>(*outcome.event));
  ++run.samples;
  --run.steps_left;
  context_.progress.steps_done(1);
  return Step::done;
}

BatchRunner::Step BatchRunner::finish(CellRun& run, bool last_round) {
  if (run.ended) return Step::cell_ended;
  if (context_.session.is_open(*run.cell)) {
    Outcome outcome;
    const Step closed = charge(run, &WorkerSession::close, "close", outcome);
    if (closed != Step::done) return closed;
  }
  if (last_round) end(run, {Status::ok});
  return Step::done;
}

// Starts a worker, loads the allocator and opens the cell, as far as that is not so already.
BatchRunner::Step BatchRunner::ensure_open(CellRun& run) {
  WorkerSession& session = context_.session;
  if (session.is_open(*run.cell)) return Step::done;
  if (needs_new_worker(run)) session.stop();
  // The set-up belongs to no single cell: it has its own time, as long as the most patient cell's.
  double limit = 0;
  for (const CellRun* each : cells_) limit = std::max(limit, each->cell->deadline_seconds);
  const Outcome loaded = session.load(batch_, device_heap_bytes_, limit, allocator_facts_);
  if (loaded.kind == Outcome::Kind::interrupted) return Step::interrupted;
  if (loaded.kind == Outcome::Kind::failed) {
    end_all(loaded);
    return Step::cell_ended;
  }
  Outcome outcome;
  const Step step = charge(run, &WorkerSession::open, "open", outcome);
  if (step == Step::done) {
    CellFacts facts = allocator_facts_;
    facts.registers = registers_from(std::get<protocol::Opened>(*outcome.event));
    facts.checks = std::move(run.facts.checks);
    facts.counted = std::move(run.facts.counted);
    run.facts = std::move(facts);
  }
  return step;
}

// Gives the command what is left of the cell's deadline and takes off what it used.
BatchRunner::Step BatchRunner::charge(CellRun& run, Command command, const std::string& doing, Outcome& outcome) {
  const double left = run.cell->deadline_seconds - run.used_seconds;
  outcome = (context_.session.*command)(*run.cell, left);
  run.used_seconds += outcome.seconds;
  if (outcome.kind == Outcome::Kind::done) return Step::done;
  if (outcome.kind == Outcome::Kind::interrupted) return Step::interrupted;
  return fail(run, outcome, doing);
}

BatchRunner::Step BatchRunner::fail(CellRun& run, const Outcome& outcome, const std::string& doing) {
  CellEnd failure = outcome.failure;
  if (failure.status == Status::timeout && failure.reason == no_answer_reason) {
    failure.reason = fmt::format("used its deadline of {} in {}", format_duration(run.cell->deadline_seconds), doing);
  } else if (failure.status == Status::crashed) {
    failure.reason = fmt::format("{} in {}", failure.reason, doing);
  }
  end(run, failure);
  return Step::cell_ended;
}

// No cell of a batch can run without its allocator.
void BatchRunner::end_all(const Outcome& outcome) {
  CellEnd failure = outcome.failure;
  failure.reason = fmt::format("set-up of the allocator: {}", failure.reason);
  for (CellRun* run : cells_) {
    if (run->ended) continue;
    log_start(*run);
    end(*run, failure);
  }
}

void BatchRunner::log_start(CellRun& run) {
  if (run.started) return;
  if (!run.known_to_log) context_.log.cell(*run.cell);
  run.known_to_log = true;
  run.started = true;
  context_.log.start(*run.cell, ++run.attempt);
}

void BatchRunner::end(CellRun& run, const CellEnd& end) {
  log_start(run);  // a skipped cell has a start as well: every end has one
  context_.log.end(*run.cell, run.attempt, end, run.facts);
  run.ended = true;
  if (end.status == Status::timeout) context_.watch.note_timeout(run.cell->series, run.cell->growth);
  context_.progress.steps_done(run.steps_left);
  run.steps_left = 0;
  context_.progress.cell_ended(run.cell->name, end.status, end.short_reason());
}

// An allocator that cannot be reset is fresh only in a new process: one for the verification and one per sample.
bool BatchRunner::needs_new_worker(const CellRun& run) const {
  return batch_.fresh_by_process && run.cell->state == "fresh" && context_.session.running();
}

}  // namespace allocbench::front
