#include "harness/front/workers/worker_session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>

#include "harness/front/common/errors.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/workers/strays.hpp"
#include "harness/front/workers/worker_answer.hpp"
#include "harness/front/workers/worker_limits.hpp"
#include "protocol/command_json.hpp"

namespace allocbench::front {
namespace {

std::string with_tail(const std::string& text, const std::string& tail) {
  return tail.empty() ? text : fmt::format("{} Its last output:\n{}", text, tail);
}

double seconds_since(WorkerProcess::Clock::time_point begin) {
  return std::chrono::duration<double>(WorkerProcess::Clock::now() - begin).count();
}

}  // namespace

WorkerSession::WorkerSession(WorkerSettings settings, SessionListener listener)
    : settings_(std::move(settings)), listener_(std::move(listener)), succession_(settings_.program) {}

// Returns the limit of a command that begins now: it ends at most a second after the end of the run's time.
double WorkerSession::with_overtime(double limit_seconds) const {
  return std::min(limit_seconds, settings_.time.seconds_left() + overtime_seconds);
}

WorkerReply WorkerSession::wait(double limit_seconds) {
  return process_->next_line(WorkerProcess::Clock::now() + duration_of(limit_seconds), listener_.idle);
}

Outcome WorkerSession::start() { return start({.bytes = 0}, {}); }

std::vector<std::string> WorkerSession::arguments_of(const HeapWish& heap, std::vector<std::string> options) const {
  std::ranges::copy(heap_options(heap), std::back_inserter(options));
  if (settings_.program.backend == "cuda") {
    options.insert(options.end(), {"--device", std::to_string(settings_.device)});
  } else {
    std::ranges::copy(settings_.executor.words(), std::back_inserter(options));
  }
  return options;
}

void WorkerSession::expect(const Batch* batch) {
  if (settings_.one_by_one) return;
  succession_.expect(batch == nullptr ? std::vector<std::string>{}
                                      : arguments_of(heap_wish(*batch), plugin_options(*batch)));
}

Outcome WorkerSession::start(const HeapWish& heap, const std::vector<std::string>& options) {
  const std::vector<std::string> arguments = arguments_of(heap, options);
  forget_cells();
  heap_ = heap;
  device_heap_bytes_ = heap.bytes.value_or(0);
  WorkerReply reply = begin(arguments);
  std::string complaint = complaint_about_start(reply);
  // The device may serve only one process, or have too little memory for two.
  const bool may_fit_alone = !complaint.empty() && succession_.waited();
  if (may_fit_alone && !settings_.time.over()) {
    if (succession_.began_early() && reply.kind == WorkerReply::Kind::line) succession_.begin_late();
    process_.reset();
    reply = begin(arguments);
    complaint = complaint_about_start(reply);
  }
  if ((may_fit_alone || reply.kind == WorkerReply::Kind::deadline) && !complaint.empty() && settings_.time.over()) {
    process_->begin_kill();
    leave_as("workers that died", false);
    return {.kind = Outcome::Kind::out_of_time};
  }
  if (reply.kind == WorkerReply::Kind::interrupted) {
    process_.reset();
    return {.kind = Outcome::Kind::interrupted};
  }
  if (complaint.empty()) return {};
  const std::string tail = process_->output_tail();
  process_.reset();
  throw EnvironmentError(with_tail(complaint, tail));
}

// Starts a worker. Returns its first line when it is ready, or why it is not ready.
WorkerReply WorkerSession::begin(const std::vector<std::string>& arguments) {
  retired_ = false;
  cells_opened_ = 0;
  told_.reset();
  if (settings_.one_by_one) see_off();
  process_ = succession_.begin(arguments);
  see_off();
  spawned_ = WorkerProcess::Clock::now();
  succession_.hand_over(*process_);
  const double limit = with_overtime(std::numeric_limits<double>::infinity());
  WorkerReply reply = wait(std::min(start_limit_seconds, limit));
  if (reply.kind == WorkerReply::Kind::line && says_loaded(reply.line)) {
    reply = wait(std::min(start_limit_seconds, limit - seconds_since(spawned_)));
  }
  start_seconds_ = seconds_since(spawned_);
  return reply;
}

// Starts a worker with this batch's plug-in and device heap.
Outcome WorkerSession::start_for(const Batch& batch) {
  started_for_ = &batch;
  const std::vector<std::string> options = plugin_options(batch);
  const HeapWish wish = heap_wish(batch);
  if (wish.bytes) return start(wish, options);
  try {
    const Outcome started = start(wish, options);
    if (started.kind == Outcome::Kind::done) answers_[wish.question] = device_heap_bytes_;
    return started;
  } catch (const LogLost&) {
    throw;  // another worker would measure for nothing
  } catch (const EnvironmentError&) {
    // The allocator may refuse these parameters. Then a worker without a device heap reports the reason when it creates
    // the allocator.
    return start({.bytes = 0}, options);
  }
}

// Returns an empty text if the worker is ready, or if the user interrupted.
std::string WorkerSession::complaint_about_start(const WorkerReply& reply) {
  const std::string& path = settings_.program.path;
  if (reply.kind == WorkerReply::Kind::interrupted) return "";
  if (reply.kind == WorkerReply::Kind::died) return fmt::format("{} {} before it was ready.", path, reply.death);
  if (reply.kind == WorkerReply::Kind::deadline) {
    return fmt::format("{} was not ready within {} s.", path, start_limit_seconds);
  }
  const FirstLine line = first_line(reply.line, path);
  if (!line.device) return line.complaint;
  if (!heap_.bytes) device_heap_bytes_ = line.device->device_heap_bytes.value_or(0);
  listener_.device(*line.device);
  return "";
}

bool WorkerSession::has_heap_of(const Batch& batch) const {
  if (batch.fresh_by_process) return started_for_ == &batch;
  const HeapWish wish = heap_wish(batch);
  if (heap_ == wish) return true;
  const auto answer = answers_.find(wish.question);
  return answer != answers_.end() && !heap_.question.empty() && answer->second == device_heap_bytes_;
}

// A process can set the size of its device heap only once, so a batch that needs another size gets a new worker.
Outcome WorkerSession::load(const Batch& batch, bool needs_heap, double limit_seconds) {
  const Load wanted = load_of(batch);
  if (process_ && (retired_ || (needs_heap && !has_heap_of(batch)))) dismiss();
  if (process_ && loaded_ == wanted) return {};
  if (!process_) {
    const Outcome started = start_for(batch);
    if (started.kind != Outcome::Kind::done) return started;
  }
  forget_cells();
  Outcome outcome = ask(protocol::LoadAllocator{batch.allocator, batch.allocator_parameters, batch.pool_bytes},
                        "allocator_ready", "", limit_seconds);
  if (outcome.kind == Outcome::Kind::done) {
    const auto& ready = std::get<protocol::AllocatorReady>(*outcome.event);
    loaded_facts_.pool_bytes = ready.pool_bytes;
    loaded_facts_.metadata_bytes = ready.metadata_bytes;
    loaded_facts_.init_seconds = ready.init_seconds;
    loaded_facts_.device_heap_bytes = device_heap_bytes_;
    loaded_ = wanted;
  } else if (outcome.kind == Outcome::Kind::failed && process_) {
    dismiss();  // a worker without an allocator is useless
    see_off();
  }
  return outcome;
}

Outcome WorkerSession::open(const Cell& cell, double limit_seconds) {
  const protocol::OpenCell command{cell.id, cell.workload, cell.workload_parameters, cell.settings};
  Outcome outcome = ask(command, "opened", cell.id, limit_seconds);
  ++cells_opened_;
  if (outcome.kind == Outcome::Kind::done) open_cells_.insert(cell.id);
  return outcome;
}

Outcome WorkerSession::verify(const Cell& cell, const VerifyLimits& limits, double limit_seconds) {
  if (Outcome told = note_profile(); told.kind != Outcome::Kind::done) return told;
  const protocol::VerifyCell command{.cell = cell.id,
                                     .seconds = limits.stage_seconds,
                                     .contents_seconds = limits.contents_seconds,
                                     .stages = true,
                                     .trace = cell.trace.empty() ? "" : std::filesystem::absolute(cell.trace).string(),
                                     .trace_calls = cell.trace_calls};
  return ask(command, "verified", cell.id, limit_seconds);
}

Outcome WorkerSession::sample(const Cell& cell, std::uint64_t count, const SampleLimits& limits,
                              const std::function<void(protocol::Sample)>& take) {
  succession_.settle(listener_.idle, settings_.time.seconds_left());  // no other worker works during a sample
  if (Outcome told = note_profile(); told.kind != Outcome::Kind::done) return told;
  stage_.clear();
  measured_.insert(cell.series);
  const protocol::SampleCell command{.cell = cell.id, .samples = count, .stages = limits.stages};
  process_->send(protocol::to_json(command).dump());
  const double limit_seconds = with_overtime(limits.seconds);
  double seconds = 0;
  double fill_seconds = 0;
  for (std::uint64_t taken = 0;; ++taken) {
    if (taken == count) return {.seconds = seconds, .fill_seconds = fill_seconds};
    Outcome outcome = await("sample", cell.id, limit_seconds - seconds, limits.trial);
    outcome.seconds = seconds += outcome.seconds;
    outcome.fill_seconds = fill_seconds += outcome.fill_seconds;
    if (outcome.kind != Outcome::Kind::done) return outcome;
    take(std::move(std::get<protocol::Sample>(*outcome.event)));
  }
}

Outcome WorkerSession::close(const Cell& cell, double limit_seconds) {
  open_cells_.erase(cell.id);
  return ask(protocol::CloseCell{cell.id}, "closed", cell.id, limit_seconds);
}

void WorkerSession::retire() {
  retired_ = true;
  forget_cells();
}

void WorkerSession::stop() {
  succession_.drop();
  dismiss();
  see_off(settings_.time.exists() ? last_reap_limit_seconds : reap_limit_seconds);
}

// Sends `quit` to the worker.
void WorkerSession::dismiss() {
  forget_cells();
  if (process_ && note_profile().kind == Outcome::Kind::done) count_told();
  if (!process_) return;
  process_->send(protocol::to_json(protocol::Quit{}).dump());
  leave_as("process ends", true);
}

void WorkerSession::leave_as(const char* what, bool quits) {
  quit_at_ = WorkerProcess::Clock::now();
  leaving_as_ = what;
  succession_.leave(std::move(process_), quits);
}

// Waits until the worker that was told to quit, or killed, is gone.
void WorkerSession::see_off(double reap_seconds) {
  if (!succession_.has_leaving()) return;
  succession_.see_off(reap_seconds);
  wall_time_.add(leaving_as_, seconds_since(quit_at_));
  const std::vector<std::string> strays = kill_strays();
  if (!strays.empty()) listener_.strays(strays);
}

// With --profile, asks the worker for its time by part. Call it before `quit`, each sample and each verification. So
// the time up to the last command is known even if the worker dies in a sample or a verification.
Outcome WorkerSession::note_profile() {
  if (!settings_.profile) return {};
  Outcome outcome = ask(protocol::AskProfile{}, "profile", "", quit_limit_seconds);
  if (outcome.kind == Outcome::Kind::done) told_ = std::get<protocol::Profile>(*outcome.event);
  return outcome;
}

// Adds the last report of the process to the wall time. Returns the seconds of its lifetime that the report explains.
double WorkerSession::count_told() { return told_ ? wall_time_.add(*told_, start_seconds_) : 0; }

// Adds the lifetime of a dead worker. A command that exceeded its deadline used `deadline_seconds` of this lifetime.
void WorkerSession::count_dead_worker(double deadline_seconds) {
  const double lived = seconds_since(spawned_);
  wall_time_.add("deadlines", deadline_seconds);
  wall_time_.add("workers that died", std::max(0.0, lived - deadline_seconds - count_told()));
}

Outcome WorkerSession::ask(const protocol::Command& command, std::string_view wanted, const std::string& cell_id,
                           double limit_seconds) {
  stage_.clear();
  process_->send(protocol::to_json(command).dump());
  return await(wanted, cell_id, with_overtime(limit_seconds));
}

Outcome WorkerSession::await(std::string_view wanted, const std::string& cell_id, double limit_seconds,
                             std::optional<Trial> trial) {
  asked_at_ = WorkerProcess::Clock::now();
  stage_at_ = asked_at_;
  fill_seconds_ = 0;
  const auto elapsed = [&] { return seconds_since(asked_at_); };
  const auto left_of_trial = [&] {
    return trial ? trial->of(stage_) - seconds_since(stage_at_) : std::numeric_limits<double>::infinity();
  };
  std::optional<Outcome> outcome;
  while (!outcome) {
    const WorkerReply reply = wait(std::min(limit_seconds - elapsed(), left_of_trial()));
    switch (reply.kind) {
      case WorkerReply::Kind::line:
        outcome = judge(reply.line, wanted, cell_id);
        break;
      case WorkerReply::Kind::died:
        outcome = lose_worker(Status::crashed, fmt::format("the worker {}", reply.death));
        break;
      case WorkerReply::Kind::deadline:
        outcome = abandon_worker();
        outcome->on_trial = trial && elapsed() < limit_seconds;
        if (settings_.time.over()) outcome->kind = Outcome::Kind::out_of_time;
        break;
      case WorkerReply::Kind::interrupted:
        outcome = Outcome{.kind = Outcome::Kind::interrupted};
        process_.reset();
        kill_strays();
        forget_cells();
        break;
    }
  }
  end_stage();
  outcome->fill_seconds = fill_seconds_;
  outcome->seconds = elapsed();
  return *outcome;
}

void WorkerSession::end_stage() {
  if (stage_ == "fill") fill_seconds_ += seconds_since(stage_at_);
  stage_at_ = WorkerProcess::Clock::now();
}

// Returns nullopt for a stage and for an event with an unknown name.
std::optional<Outcome> WorkerSession::judge(const std::string& line, std::string_view wanted,
                                            const std::string& cell_id) {
  std::optional<WorkerAnswer> answer = answer_in(line, wanted, cell_id);
  if (!answer) return std::nullopt;
  if (!answer->stage.empty()) {
    end_stage();
    stage_ = answer->stage;
    return std::nullopt;
  }
  if (!answer->complaint.empty()) return lose_worker(Status::crashed, std::move(answer->complaint));
  if (const auto* failed = std::get_if<protocol::Failed>(&*answer->event)) return judge_failure(*failed);
  if (const auto* machine = std::get_if<protocol::NoEnvironment>(&*answer->event)) give_up(*machine);
  if (const auto strays = kill_strays(); !strays.empty()) {
    return lose_worker(Status::crashed, fmt::format("the worker left {} running", fmt::join(strays, ", ")));
  }
  return Outcome{.event = std::move(answer->event)};
}

std::optional<Outcome> WorkerSession::judge_failure(const protocol::Failed& failed) {
  if (failed.fatal) {
    process_->finish();
    return lose_worker(failed.status, failed.reason);
  }
  return Outcome{.kind = Outcome::Kind::failed, .failure = {failed.status, failed.reason, process_->output_tail()}};
}

// Handles a failure of the machine, for which the allocator is not to blame. The cell gets no end and is measured again
// when the run is resumed.
void WorkerSession::give_up(const protocol::NoEnvironment& machine) {
  process_->finish();
  count_dead_worker(0);
  process_.reset();
  forget_cells();
  throw EnvironmentError(fmt::format("The machine failed during a measurement, not the allocator: {}", machine.reason));
}

Outcome WorkerSession::lose_worker(Status status, std::string reason) {
  process_->kill();
  count_dead_worker(status == Status::timeout ? seconds_since(asked_at_) : 0);
  const std::vector<std::string> strays = kill_strays();
  if (!strays.empty()) reason += fmt::format("; it left {} behind", fmt::join(strays, ", "));
  Outcome outcome{.kind = Outcome::Kind::failed, .failure = {status, std::move(reason), process_->output_tail()}};
  process_.reset();
  forget_cells();
  return outcome;
}

// Handles a worker that gave no answer. Its kernel may run until the process is gone. Meanwhile the next worker loads
// its plug-ins; it opens the device afterwards.
Outcome WorkerSession::abandon_worker() {
  process_->begin_kill();
  count_dead_worker(seconds_since(asked_at_));
  Outcome outcome{.kind = Outcome::Kind::failed,
                  .failure = {Status::timeout, protocol::no_answer_reason, process_->output_tail()}};
  leave_as("workers that died", false);
  forget_cells();
  return outcome;
}

void WorkerSession::forget_cells() {
  open_cells_.clear();
  measured_.clear();
  loaded_.reset();
}

}  // namespace allocbench::front
