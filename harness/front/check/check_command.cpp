// `allocbench check`: searches allocators for bugs on the CPU executor, and shows one again.
#include "harness/front/check/check_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "harness/front/check/check_plan.hpp"
#include "harness/front/check/crew.hpp"
#include "harness/front/check/matrix.hpp"
#include "harness/front/check/shortest.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/run/interrupt.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// A worker that dies takes the runs of its task along, so tasks are small; a run takes about a millisecond.
constexpr std::uint64_t runs_per_task = 500;
constexpr double task_limit_seconds = 60;
constexpr double single_run_limit_seconds = 10;

// The strategies of --by-strategy: each alone, then the mixture, then the mixture under the race build.
constexpr const char* compared_strategies[] = {"random/1", "random/4", "random/16",   "random/64",
                                               "pct/2",    "pct/3",    "pct/4",       "round_robin/1",
                                               "lockstep", "swarm",    "swarm+stores"};

std::size_t jobs_of(const CheckOptions& options) {
  return options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
}

std::string command_of(const CheckOptions& options) {
  std::string command = shell_word(options.program) + " check";
  if (!options.workers.empty()) command += " --workers " + shell_word(options.workers);
  return command;
}

class Checking {
 public:
  Checking(const CheckPlan& plan, const CheckOptions& options, std::string strategy, bool stop_at_failure)
      : plan_(plan),
        options_(options),
        strategy_(std::move(strategy)),
        stop_at_failure_(stop_at_failure),
        crew_(jobs_of(options), [this] { show_progress(); }) {
    matrix_.command = command_of(options);
    for (const std::string& file : plan.model_files) {
      matrix_.model_options.push_back(file.empty() ? "" : " --model " + shell_word(file));
    }
    for (const Json& model : plan.models) matrix_.models.push_back(model.value("name", "?"));
    matrix_.allocators = plan.allocators;
    matrix_.races_looked_for = plan.race_seer.has_value();
    plan_cells(false, options.seeds);
    if (plan.race_seer) plan_cells(true, options.race_seeds);
  }

  // False when the user interrupted.
  bool run() {
    const auto start = std::chrono::steady_clock::now();
    const bool complete = crew_.run([this](const CheckTask& task, const CheckAnswer& answer) { take(task, answer); });
    matrix_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (progress_shown_) fmt::print(stderr, "\r{:60}\r", "");
    return complete;
  }
  const CheckMatrix& matrix() const { return matrix_; }

 private:
  // Seeds are spread over the models of an allocator.
  void plan_cells(bool races, std::uint64_t seeds) {
    const std::uint64_t per_model = std::max<std::uint64_t>(1, (seeds + plan_.models.size() - 1) / plan_.models.size());
    for (const std::string& allocator : plan_.allocators) {
      for (std::size_t model = 0; model < plan_.models.size(); ++model) {
        CheckCell cell;
        cell.allocator = allocator;
        cell.model = model;
        cell.races = races;
        cell.planned = per_model;
        matrix_.cells.push_back(cell);
        planned_ += per_model;
        // An exhaustive search goes from each schedule to the next: one worker does it all.
        const std::uint64_t per_task = exhaustive() ? per_model : runs_per_task;
        for (std::uint64_t first = 0; first < per_model; first += per_task) {
          crew_.add(task(matrix_.cells.size() - 1, options_.first_seed + first, std::min(per_task, per_model - first)));
        }
      }
    }
  }

  bool exhaustive() const { return strategy_.starts_with("dfs"); }

  CheckTask task(std::size_t index, std::uint64_t first, std::uint64_t count) const {
    const CheckCell& cell = matrix_.cells[index];
    CheckTask task;
    task.program = cell.races ? *plan_.race_seer : plan_.searcher;
    task.command = {{"command", "explore"},
                    {"allocator", cell.allocator},
                    {"model", plan_.models[cell.model]},
                    {"strategy", strategy_},
                    {"first_seed", first},
                    {"seeds", count},
                    {"stop_at_failure", stop_at_failure_}};
    // ThreadSanitizer takes seconds to name the places of a race, on a busy machine many.
    task.limit_seconds = count == 1 && !cell.races ? single_run_limit_seconds : task_limit_seconds;
    if (exhaustive()) task.limit_seconds *= std::ceil(static_cast<double>(count) / runs_per_task);
    task.cell = index;
    return task;
  }

  void take(const CheckTask& done, const CheckAnswer& answer) {
    CheckCell& cell = matrix_.cells[done.cell];
    const std::uint64_t first = done.command["first_seed"];
    const std::uint64_t count = done.command["seeds"];
    if (cell.finding && stop_at_failure_) return;
    if (answer.kind != CheckAnswer::Kind::answered) return narrow_down(done, answer, first, count);
    done_ += count;
    if (answer.event["event"] == "unsupported") {
      cell.unsupported = answer.event.value("reason", "");
      return;
    }
    cell.tried += answer.event["tried"].get<std::uint64_t>();
    cell.failed += answer.event["failed"].get<std::uint64_t>();
    cell.steps += answer.event["steps"].get<std::uint64_t>();
    if (answer.event.contains("first") && !cell.finding) {
      const Json& run = answer.event["first"];
      cell.finding = finding_of(cell, run["seed"], run["outcome"], run["summary"]);
      cell.finding->report = run["report"];
      cell.finding->schedule = run["schedule"];
    }
  }

  // A worker died or fell silent somewhere in these seeds: halves are tried until one seed is left.
  void narrow_down(const CheckTask& lost, const CheckAnswer& answer, std::uint64_t first, std::uint64_t count) {
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
    cell.finding = finding_of(cell, first, died ? "crash" : "hang",
                              died ? "the worker " + answer.death
                                   : fmt::format("no end after {} s and no scheduling point", lost.limit_seconds));
    cell.finding->report = cell.finding->summary;
  }

  Finding finding_of(const CheckCell& cell, std::uint64_t seed, std::string outcome, std::string summary) const {
    Finding finding;
    finding.allocator = cell.allocator;
    finding.model = plan_.models[cell.model];
    finding.strategy = strategy_;
    finding.seed = seed;
    finding.races = cell.races;
    finding.outcome = std::move(outcome);
    finding.summary = std::move(summary);
    return finding;
  }

  void show_progress() {
    if (options_.quiet || isatty(STDERR_FILENO) != 1) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_shown_ < std::chrono::milliseconds(200)) return;
    last_shown_ = now;
    progress_shown_ = true;
    fmt::print(stderr, "\r{} of {} runs, {} cells failed ({})   ", done_, planned_, matrix_.findings(), strategy_);
  }

  const CheckPlan& plan_;
  const CheckOptions& options_;
  std::string strategy_;
  bool stop_at_failure_;
  CheckMatrix matrix_;
  CheckCrew crew_;
  std::uint64_t planned_ = 0;
  std::uint64_t done_ = 0;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_shown_;
};

int search(const CheckPlan& plan, const CheckOptions& options) {
  if (!plan.race_seer && options.races) {
    fmt::print(stderr, "allocbench: no allocbench-worker-tsan: races are not looked for\n");
  }
  Checking checking(plan, options, options.strategy, true);
  const bool complete = checking.run();
  const CheckMatrix& matrix = checking.matrix();
  if (options.json) {
    fmt::print("{}\n", matrix_json(matrix, options.out).dump(2));
  } else {
    fmt::print("{}", matrix_text(matrix, options.out, colours_on_stdout()));
  }
  std::fflush(stdout);
  for (const CheckCell& cell : matrix.cells) {
    if (cell.finding) write_finding(*cell.finding, options.out);
  }
  if (matrix.findings() != 0 && !options.quiet) {
    fmt::print(stderr, "allocbench: reports and schedules are in {}; --replay FILE.json --shrink shortens one\n",
               options.out);
  }
  if (!complete) return exit_interrupted;
  return matrix.findings() == 0 ? exit_all_ok : exit_some_not_ok;
}

int compare_strategies(const CheckPlan& plan, const CheckOptions& options) {
  std::vector<std::pair<std::string, CheckMatrix>> by_strategy;
  CheckPlan part = plan;
  part.race_seer.reset();
  for (const char* strategy : compared_strategies) {
    Checking checking(part, options, strategy, false);
    if (!checking.run()) return exit_interrupted;
    by_strategy.emplace_back(strategy, checking.matrix());
  }
  if (plan.race_seer) {
    part.searcher = *plan.race_seer;
    CheckOptions race_options = options;
    race_options.seeds = options.race_seeds;
    Checking checking(part, race_options, "swarm", false);
    if (!checking.run()) return exit_interrupted;
    by_strategy.emplace_back("races", checking.matrix());
  }
  const auto per_model = [&](std::uint64_t seeds) { return std::max<std::uint64_t>(1, seeds / plan.models.size()); };
  fmt::print("Per cent of {} runs ({} under the race build) that fail, on the model that shows it best\n\n{}",
             per_model(options.seeds), per_model(options.race_seeds), strategy_table(by_strategy));
  return exit_all_ok;
}

// One question, one answer.
Json ask(const WorkerProgram& program, const Json& command) {
  CheckCrew crew(1, [] {});
  CheckTask task;
  task.program = program;
  task.command = command;
  task.limit_seconds = 10 * task_limit_seconds;
  crew.add(task);
  Json event;
  const bool complete = crew.run([&](const CheckTask&, const CheckAnswer& answer) {
    if (answer.kind == CheckAnswer::Kind::answered) event = answer.event;
    if (answer.kind == CheckAnswer::Kind::died) event = {{"event", "lost"}, {"reason", "the worker " + answer.death}};
    if (answer.kind == CheckAnswer::Kind::late) event = {{"event", "lost"}, {"reason", "the run did not end"}};
  });
  if (!complete) throw EnvironmentError("interrupted.");
  return event;
}

Finding finding_to_replay(const CheckOptions& options) {
  std::error_code error;  // of names that cannot be a file's
  if (std::filesystem::exists(options.replay, error)) return read_finding(options.replay);
  const SeedString parts = parse_seed_string(options.replay);
  if (parts.strategy.starts_with("dfs")) {
    throw UsageError("--replay: an exhaustive search has no seeds; replay the file that it wrote.");
  }
  CheckOptions chosen = options;
  chosen.allocators = {parts.allocator};
  if (chosen.models.empty()) chosen.models = {parts.model};
  const CheckPlan plan = make_check_plan(chosen);
  Finding finding;
  finding.allocator = parts.allocator;
  finding.strategy = parts.strategy;
  finding.seed = parts.seed;
  finding.races = parts.races;
  for (const Json& model : plan.models) {
    if (model.value("name", "") == parts.model) finding.model = model;
  }
  if (finding.model.is_null()) {
    throw UsageError(fmt::format("--replay: --model does not contain the model \"{}\".", parts.model));
  }
  return finding;
}

int replay(const CheckOptions& options) {
  Finding finding = finding_to_replay(options);
  const WorkerFolder folder(options.workers);
  const bool race = finding.races;
  const WorkerProgram program = folder.require(race ? "tsan" : "check");
  Json command = {{"command", "replay"},
                  {"allocator", finding.allocator},
                  {"model", finding.model},
                  {"times", race ? 1 : options.times}};
  if (finding.schedule.empty()) {
    command["strategy"] = finding.strategy;
    command["seed"] = finding.seed;
  } else {
    command["schedule"] = finding.schedule;
  }
  const auto lost = [&](const Json& event) {
    if (event["event"] == "replayed" || event["event"] == "shrunk") return false;
    fmt::print("{} on {}: {}\n", finding.allocator, finding.model_name(), event.value("reason", ""));
    return true;
  };
  Json event = ask(program, command);
  if (lost(event)) return exit_some_not_ok;
  std::uint64_t identical = event["identical"];
  const Json run = event["run"];
  // ThreadSanitizer reports a pair of places once per process, so each repetition gets its own.
  for (std::uint64_t i = 1; race && i < options.times; ++i) {
    const Json again = ask(program, command);
    if (lost(again)) return exit_some_not_ok;
    if (again["run"] == run) ++identical;
  }
  finding.outcome = run["outcome"];
  finding.summary = run["summary"];
  finding.report = run["report"];
  finding.schedule = run["schedule"];
  if (finding.outcome == "ok") {
    fmt::print("{} on {}, strategy {}, seed {}: ok\n", finding.allocator, finding.model_name(), finding.strategy,
               finding.seed);
    return exit_all_ok;
  }
  if (options.shrink && !race) {
    const ShortestRun shortest = shortest_run(program, finding, options.first_seed, jobs_of(options));
    fmt::print(
        "shrunk from {} to {} decisions in {} runs from {} failing schedules; the shortest is from {}, seed {}\n\n",
        run["decisions"].get<std::size_t>(), shortest.decisions, shortest.runs, shortest.starts,
        shortest.finding.strategy, shortest.finding.seed);
    finding = shortest.finding;
  }
  fmt::print("{}", finding.report);
  if (!finding.schedule.empty()) fmt::print("\nschedule: {}\n", finding.schedule);
  fmt::print("{} of {} repetitions identical\n", identical, options.times);
  if (options.shrink && !race) {
    const std::string shrunk = options.out + "/shrunk";
    write_finding(finding, shrunk);
    fmt::print("written to {}/{}.json\n", shrunk, finding.file_name());
  }
  return exit_some_not_ok;
}

int list(const CheckOptions& options) {
  const protocol::CheckerDescription offer = describe_checker(WorkerFolder(options.workers).require("check"));
  fmt::print("allocators\n");
  for (const protocol::SubjectDescription& subject : offer.allocators) {
    if (options.all || !subject.test_only) fmt::print("  {}\n", subject.name);
  }
  fmt::print("models\n");
  for (const Json& model : offer.models) {
    fmt::print("  {:16}  {}\n", model.value("name", ""), model.value("description", ""));
  }
  fmt::print("strategies\n  {}\n", offer.strategies);
  return exit_all_ok;
}

int print_model(const CheckOptions& options) {
  CheckOptions chosen = options;
  chosen.models = {options.print_model};
  const CheckPlan plan = make_check_plan(chosen);
  fmt::print("{}\n", plan.models.front().dump(2));
  return exit_all_ok;
}

}  // namespace

int check_command(const CheckOptions& options) {
  install_interrupt_handlers();
  if (options.list) return list(options);
  if (!options.print_model.empty()) return print_model(options);
  if (!options.replay.empty()) return replay(options);
  const CheckPlan plan = make_check_plan(options);
  return options.by_strategy ? compare_strategies(plan, options) : search(plan, options);
}

}  // namespace allocbench::front
