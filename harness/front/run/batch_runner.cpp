#include "harness/front/run/batch_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/units.hpp"
#include "harness/front/run/interrupt.hpp"
#include "harness/front/run/stopping.hpp"
#include "harness/front/run/supervisor_limits.hpp"

namespace allocbench::front {
namespace {

// By phase; a phase of several kernels counts with its largest.
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

}  // namespace

BatchRunner::BatchRunner(const Batch& batch, std::vector<CellRun*> cells, WorkerSession& session, CellBook book,
                         const Batch* follower)
    : batch_(batch), cells_(std::move(cells)), session_(session), book_(book), follower_(follower) {}

bool BatchRunner::run_round(Doubt accepted) {
  for (CellRun* run : cells_) {
    if (run->ended) continue;  // with its whole batch
    if (!run->rounds.empty() && book_.time.over()) {
      book_.stop_for_time(*run);
      continue;
    }
    if (run_cell(*run, accepted) == Step::interrupted) return false;
  }
  return true;
}

BatchRunner::Step BatchRunner::run_cell(CellRun& run, Doubt accepted) {
  Step step = prepare(run, accepted);
  while (step == Step::done) {
    const bool alone = needs_process_per_sample(run);
    // A round is one value: a second process in it would cost its start and add nothing.
    if (alone && run.cell->rounds > 1 && !run.running.empty()) return finish(run);
    const std::uint64_t count = samples_to_ask_for(*run.cell, run.running, run.rounds);
    if (count == 0) return finish(run);
    step = take_samples(run, alone ? 1 : count);
  }
  return step;
}

// Begins the round: opens the cell and, in its first round, logs the start and verifies.
BatchRunner::Step BatchRunner::prepare(CellRun& run, Doubt accepted) {
  if (interrupted()) return Step::interrupted;
  book_.progress.working_on(run.cell->name);
  run.running.clear();
  run.used_seconds = 0;
  run.deadline_seconds = run.cell->deadline_seconds;
  if (run.verified) {
    // The log of an interrupted run may end between a cell's last round and its end.
    const auto reason = reason_to_stop(*run.cell, run.rounds, run.wall_seconds);
    if (!reason) return Step::done;
    book_.end(run, {.stop = *reason});
    return Step::cell_ended;
  }
  const Step admitted = admit(run, accepted);
  if (admitted != Step::done) return admitted;
  book_.start(run);
  return verify(run);
}

// Whether a cell begins now.
BatchRunner::Step BatchRunner::admit(CellRun& run, Doubt accepted) {
  if (const auto reason = book_.watch.reason_to_skip(book_.figure, *run.cell)) {
    book_.end(run, {Status::skipped, *reason});
    return Step::cell_ended;
  }
  const DoubtAbout about = book_.watch.about(book_.figure, *run.cell);
  if (about.doubt > accepted) {
    if (run.doubt == Doubt::none) book_.progress.put_off();
    run.doubt = about.doubt;
    return Step::put_off;
  }
  if (!book_.time.over()) return Step::done;
  if (run.doubt == Doubt::none && !is_expensive(run.expected.seconds)) return Step::done;
  book_.leave_out(run, run.doubt == Doubt::none ? run.expected.reason : about.reason);
  return Step::cell_ended;
}

BatchRunner::Step BatchRunner::verify(CellRun& run) {
  shorten_if_hopeless(run);
  Step step = ensure_open(run);
  if (step != Step::done) return step;
  Outcome outcome;
  step = charge(run, &WorkerSession::verify, "verification", outcome);
  if (step != Step::done) return step;
  auto& verified = std::get<protocol::Verified>(*outcome.event);
  run.facts.checks = std::move(verified.checks);
  run.facts.counted = std::move(verified.counted);
  run.verified = true;
  book_.watch.note_verified(book_.figure, *run.cell);
  book_.log.verified(*run.cell, run.attempt, run.facts);
  book_.step_done(run);
  return Step::done;
}

// A hang costs a whole deadline: the larger cells behind it get less.
void BatchRunner::shorten_if_hopeless(CellRun& run) {
  if (!book_.watch.series_timed_out(book_.figure, *run.cell)) return;
  const double whole = run.cell->deadline_seconds;
  run.deadline_seconds = std::min(whole, std::max(shortest_deadline_seconds, whole * share_of_hopeless));
}

BatchRunner::Step BatchRunner::take_samples(CellRun& run, std::uint64_t count) {
  if (interrupted()) return Step::interrupted;
  // The verification used the heap as well.
  if (needs_own_process(run) && (needs_process_per_sample(run) || run.running.empty())) session_.retire();
  const Step opened = ensure_open(run);
  if (opened != Step::done) return opened;
  const auto take = [&](protocol::Sample sample) {
    book_.log.sample(*run.cell, run.attempt, run.rounds.size(), run.running.size(), sample);
    run.running.push_back(std::move(sample));
  };
  const Outcome outcome = session_.sample(*run.cell, count, run.deadline_seconds - run.used_seconds, take);
  return judge(run, outcome, fmt::format("sample {}", run.running.size() + 1));
}

// The cell has the samples of its round.
BatchRunner::Step BatchRunner::finish(CellRun& run) {
  if (session_.is_open(*run.cell)) {
    Outcome outcome;
    const Step closed = charge(run, &WorkerSession::close, "close", outcome);
    if (closed != Step::done) return closed;
  }
  book_.log.round(*run.cell, run.attempt, run.rounds.size(), run.running.size(), run.used_seconds);
  run.wall_seconds += run.used_seconds;
  run.rounds.push_back(std::move(run.running));
  run.running.clear();
  book_.step_done(run);
  if (const auto reason = reason_to_stop(*run.cell, run.rounds, run.wall_seconds)) book_.end(run, {.stop = *reason});
  return Step::done;
}

// Starts a worker, loads the allocator and opens the cell, as far as that is not so already. Only an open cell tells
// whether its worker suits it.
BatchRunner::Step BatchRunner::ensure_open(CellRun& run) {
  if (session_.is_open(*run.cell)) return Step::done;
  if (run.uses_device_heap && needs_own_process(run)) session_.retire();
  const Step opened = open(run);
  if (opened != Step::done || worker_suits(run)) return opened;
  session_.retire();
  return open(run);
}

// Another batch may have started the worker, for a device heap of another size, and cells before this one may have used
// that heap.
bool BatchRunner::worker_suits(const CellRun& run) const {
  if (needs_heap(run) && !session_.has_heap_of(batch_)) return false;
  return !needs_own_process(run) || session_.is_only(*run.cell);
}

// The batch of the worker after the one that opens this cell, as far as one can tell.
const Batch* BatchRunner::next_to_start(const CellRun& run) const {
  const bool is_alone = run.uses_device_heap.value_or(!batch_.has_heap_share) && needs_own_process(run);
  return is_alone && (!run.verified || &run != cells_.back()) ? &batch_ : follower_;
}

BatchRunner::Step BatchRunner::open(CellRun& run) {
  session_.expect(next_to_start(run));
  const Outcome loaded = session_.load(batch_, needs_heap(run), set_up_limit(run), allocator_facts_);
  if (loaded.kind == Outcome::Kind::interrupted) return Step::interrupted;
  if (loaded.kind == Outcome::Kind::failed) {
    end_all(loaded);
    return Step::cell_ended;
  }
  Outcome outcome;
  const Step step = charge(run, &WorkerSession::open, "open", outcome);
  if (step != Step::done) return step;
  const auto& opened_cell = std::get<protocol::Opened>(*outcome.event);
  run.uses_device_heap = opened_cell.uses_device_heap;
  if (run.verified) return step;
  run.facts = allocator_facts_;
  run.facts.registers = largest_by_phase(opened_cell, &protocol::Kernel::registers);
  run.facts.local_bytes = largest_by_phase(opened_cell, &protocol::Kernel::local_bytes);
  return step;
}

// The set-up belongs to no single cell: it has its own time, as long as the most patient cell's. After a hang in this
// series it has that of the cell.
double BatchRunner::set_up_limit(const CellRun& run) const {
  if (run.deadline_seconds < run.cell->deadline_seconds) return run.deadline_seconds;
  double limit = 0;
  for (const CellRun* each : cells_) limit = std::max(limit, each->cell->deadline_seconds);
  return limit;
}

// Gives the command what is left of the cell's deadline and takes off what it used.
BatchRunner::Step BatchRunner::charge(CellRun& run, Command command, const std::string& doing, Outcome& outcome) {
  outcome = (session_.*command)(*run.cell, run.deadline_seconds - run.used_seconds);
  return judge(run, outcome, doing);
}

BatchRunner::Step BatchRunner::judge(CellRun& run, const Outcome& outcome, const std::string& doing) {
  run.used_seconds += outcome.seconds;
  if (outcome.kind == Outcome::Kind::done) return Step::done;
  if (outcome.kind == Outcome::Kind::interrupted) return Step::interrupted;
  return fail(run, outcome, doing);
}

BatchRunner::Step BatchRunner::fail(CellRun& run, const Outcome& outcome, const std::string& doing) {
  CellEnd failure = outcome.failure;
  if (failure.status == Status::timeout && failure.reason == protocol::no_answer_reason) {
    const bool is_short = run.deadline_seconds < run.cell->deadline_seconds;
    failure.reason = fmt::format("used its {} of {} in {}", is_short ? "short deadline after a timeout" : "deadline",
                                 format_limit(run.deadline_seconds), doing);
  } else if (failure.status == Status::crashed) {
    failure.reason = fmt::format("{} in {}", failure.reason, doing);
  }
  if (!run.rounds.empty()) failure.reason += fmt::format(" of round {}", run.rounds.size() + 1);
  book_.end(run, failure);
  if (costs_worker(failure.status)) book_.watch.note_lost_worker(book_.figure, run.cell->label);
  return Step::cell_ended;
}

// No cell of a batch can run without its allocator.
void BatchRunner::end_all(const Outcome& outcome) {
  CellEnd failure = outcome.failure;
  failure.reason = fmt::format("set-up of the allocator: {}", failure.reason);
  for (CellRun* run : cells_) {
    if (!run->ended) book_.end(*run, failure);
  }
  if (costs_worker(failure.status)) book_.watch.note_lost_worker(book_.figure, batch_.label);
}

// A cell that leaves the allocator's share of the device heap alone can be measured beside a heap of any size. Most do,
// so one that is not known yet counts as such.
bool BatchRunner::needs_heap(const CellRun& run) const {
  return !batch_.has_heap_share || run.uses_device_heap.value_or(false);
}

// An allocator that cannot be reset is fresh only in a new process: one for the verification and one per sample. What
// keeps memory of the device heap hands it to no other cell, whatever the state is. Neither is needed as long as a cell
// leaves the device heap alone.
bool BatchRunner::needs_own_process(const CellRun& run) const {
  return batch_.isolates(*run.cell) && (!batch_.has_heap_share || run.uses_device_heap.value_or(true));
}

bool BatchRunner::needs_process_per_sample(const CellRun& run) const {
  return needs_own_process(run) && run.cell->state == "fresh";
}

}  // namespace allocbench::front
