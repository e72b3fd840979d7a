#include "harness/front/check/checking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"

namespace allocbench::front {
namespace {

// If a worker dies, all runs of its task are lost, so tasks are small.
constexpr std::uint64_t runs_per_task = 500;
constexpr double task_limit_seconds = 60;
constexpr double single_run_limit_seconds = 10;
// ThreadSanitizer makes runs slow, so a task of the race build gets more time.
constexpr double race_limit_seconds = 300;

}  // namespace

Checking::Checking(const CheckPlan& plan, const CheckOptions& options, std::string strategy, bool stop_at_failure)
    : plan_(plan),
      options_(options),
      strategy_(std::move(strategy)),
      stop_at_failure_(stop_at_failure),
      crew_(options.workers_at_once(), [this] { show_progress(); }) {
  matrix_.command = options.command();
  for (const std::string& file : plan.model_files) {
    matrix_.model_options.push_back(file.empty() ? "" : " --model " + quoted(file));
  }
  for (const protocol::Model& model : plan.models) matrix_.models.push_back(model.name);
  matrix_.allocators = plan.allocators;
  matrix_.races_looked_for = plan.race_seer.has_value();
  add_cells(false, plan.allocators, options.seeds);
  if (plan.race_seer) add_cells(true, plan.race_allocators, options.race_seeds);
  crew_.take_from([this] { return next_task(); });
}

bool Checking::run() {
  const auto start = std::chrono::steady_clock::now();
  const bool complete = crew_.run([this](const CheckTask& task, const CheckAnswer& answer) { take(task, answer); });
  matrix_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (progress_shown_) tell("\r{:60}\r", "");
  return complete;
}

std::uint64_t seeds_per_model(std::uint64_t seeds, const CheckPlan& plan) {
  return std::max<std::uint64_t>(1, (seeds + plan.models.size() - 1) / plan.models.size());
}

void Checking::add_cells(bool races, const std::vector<std::string>& allocators, std::uint64_t seeds) {
  const std::uint64_t per_model = seeds_per_model(seeds, plan_);
  for (const std::string& allocator : allocators) {
    for (std::size_t model = 0; model < plan_.models.size(); ++model) {
      CheckCell cell;
      cell.allocator = allocator;
      cell.model = model;
      cell.races = races;
      cell.planned = per_model;
      matrix_.cells.push_back(cell);
      planned_ += per_model;
    }
  }
}

std::optional<CheckTask> Checking::next_task() {
  for (; current_ < matrix_.cells.size(); ++current_, seeds_given_ = 0) {
    const CheckCell& cell = matrix_.cells[current_];
    const bool decided = !cell.unsupported.empty() || (cell.finding && stop_at_failure_);
    if (decided || seeds_given_ == cell.planned) continue;
    // An exhaustive search derives each schedule from the previous one, so one worker does all of it.
    const std::uint64_t count = exhaustive() ? cell.planned : std::min(runs_per_task, cell.planned - seeds_given_);
    const std::uint64_t first = options_.first_seed + seeds_given_;
    seeds_given_ += count;
    return task(current_, first, count);
  }
  return std::nullopt;
}

CheckTask Checking::task(std::size_t index, std::uint64_t first, std::uint64_t count) const {
  const CheckCell& cell = matrix_.cells[index];
  CheckTask task;
  task.program = cell.races ? *plan_.race_seer : plan_.searcher;
  task.command = protocol::Explore{.target = {cell.allocator, plan_.models[cell.model]},
                                   .strategy = strategy_,
                                   .first_seed = first,
                                   .seeds = count,
                                   .stop_at_failure = stop_at_failure_,
                                   .apart = false};
  task.limit_seconds = cell.races ? race_limit_seconds : count == 1 ? single_run_limit_seconds : task_limit_seconds;
  if (exhaustive()) task.limit_seconds *= std::ceil(static_cast<double>(count) / runs_per_task);
  task.cell = index;
  return task;
}

void Checking::take(const CheckTask& done, const CheckAnswer& answer) {
  CheckCell& cell = matrix_.cells[done.cell];
  if (cell.finding && stop_at_failure_) return;
  if (answer.kind != CheckAnswer::Kind::answered) return narrow_down(done, answer);
  done_ += std::get<protocol::Explore>(done.command).seeds;
  if (const auto* unsupported = std::get_if<protocol::Unsupported>(&answer.event)) {
    cell.unsupported = unsupported->reason;
    return;
  }
  const auto& explored = std::get<protocol::Explored>(answer.event);
  cell.tried += explored.tried;
  cell.failed += explored.failed;
  cell.steps += explored.steps;
  if (explored.first && !cell.finding) {
    cell.finding = new_finding(cell, explored.first->seed);
    cell.finding->take(*explored.first);
  }
}

// Replaces a task whose worker died or did not answer by two tasks with half of its seeds each. If the task has only
// one seed, its run counts as failed. An exhaustive search is not divided and counts as one failed run.
void Checking::narrow_down(const CheckTask& lost, const CheckAnswer& answer) {
  const auto& [target, strategy, first, count, stop, apart] = std::get<protocol::Explore>(lost.command);
  if (count > 1 && !exhaustive()) {
    crew_.add_next(task(lost.cell, first + count / 2, count - count / 2));
    crew_.add_next(task(lost.cell, first, count / 2));
    return;
  }
  CheckCell& cell = matrix_.cells[lost.cell];
  ++cell.tried;
  ++cell.failed;
  ++done_;
  if (cell.finding) return;
  const bool died = answer.kind == CheckAnswer::Kind::died;
  cell.finding = new_finding(cell, first);
  cell.finding->outcome = died ? "crash" : "hang";
  cell.finding->summary = died ? answer.loss() : fmt::format("did not end within {} s", lost.limit_seconds);
  cell.finding->report = cell.finding->summary;
}

Finding Checking::new_finding(const CheckCell& cell, std::uint64_t seed) const {
  Finding finding;
  finding.allocator = cell.allocator;
  finding.model = plan_.models[cell.model];
  finding.strategy = strategy_;
  finding.seed = seed;
  finding.races = cell.races;
  return finding;
}

void Checking::show_progress() {
  if (options_.quiet || isatty(STDERR_FILENO) != 1) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_shown_ < std::chrono::milliseconds(200)) return;
  last_shown_ = now;
  progress_shown_ = true;
  tell("\r{} of {} runs, {} cells failed ({})   ", done_, planned_, matrix_.findings(), strategy_);
}

}  // namespace allocbench::front
