#include "harness/front/cli/measuring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "harness/front/cli/results_writer.hpp"
#include "harness/front/cli/study_words.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/run/supervisor.hpp"
#include "harness/front/run/turns.hpp"
#include "harness/front/workers/device_check.hpp"
#include "harness/front/workers/scratch_folder.hpp"
#include "harness/front/workers/worker_session.hpp"

namespace allocbench::front {
namespace {

// Starts a worker only to query its device. Throws Interrupted after Ctrl-C.
protocol::Device probe(const WorkerProgram& program, const RunOptions& options) {
  protocol::Device device;
  SessionListener listener;
  listener.device = [&](const protocol::Device& told) { device = told; };
  WorkerSession session({program, options.device, options.executor}, listener);
  if (session.start().kind == Outcome::Kind::interrupted) throw Interrupted();
  session.stop();
  if (device.name.empty()) device.name = "an unnamed device";
  return device;
}

// Finds the worker and its device. Leaves the catalogues empty.
Target find_target(const RunOptions& options) {
  const WorkerFolder folder(options.workers);
  if (options.backend == "auto") {
    std::string why = "there is no CUDA worker";
    if (const auto cuda = folder.find("cuda")) {
      try {
        Target target{*cuda, probe(*cuda, options), {}, {}};
        tell("allocbench: back end cuda on {} (chosen by --backend auto)\n", target.device->name);
        return target;
      } catch (const EnvironmentError& error) {
        why = error.what();
      }
    }
    Target target{folder.require("cpu"), std::nullopt, {}, {}};
    target.device = probe(target.program, options);
    tell("allocbench: back end cpu on {} (chosen by --backend auto: {})\n", target.device->name, why);
    return target;
  }
  Target target{folder.require(options.backend), std::nullopt, {}, {}};
  try {
    target.device = probe(target.program, options);
  } catch (const EnvironmentError& error) {
    // --dry-run and --print-config need no device.
    if (!options.dry_run && !options.print_config) throw;
    tell("allocbench: back end {} without a device: {}\n", options.backend, error.what());
    return target;
  }
  tell("allocbench: back end {} on {}\n", options.backend, target.device->name);
  return target;
}

// Returns the catalogue of the other back end's worker, or nothing if it is not built or does not answer.
std::optional<Catalogue> other_catalogue(const RunOptions& options, const std::string& backend) {
  const auto program = WorkerFolder(options.workers).find(backend == "cpu" ? "cuda" : "cpu");
  if (!program) return std::nullopt;
  try {
    return describe_worker(*program);
  } catch (const EnvironmentError&) {
    return std::nullopt;  // the run does not need the other catalogue
  }
}

FolderUse folder_use(const RunOptions& options) {
  if (options.force) return FolderUse::start_over;
  return options.resume || options.only_failed ? FolderUse::go_on : FolderUse::begin;
}

Selection selection(const RunOptions& options) {
  if (!options.only_failed) return Selection::unfinished;
  return options.resume ? Selection::unfinished_and_failed : Selection::failed;
}

SessionListener listener_of(std::vector<FigureRun>& open, Progress& progress) {
  SessionListener listener;
  listener.device = [&](const protocol::Device& device) {
    for (FigureRun& figure : open) figure.log->device(device);
  };
  listener.strays = [&](const std::vector<std::string>& names) {
    for (FigureRun& figure : open) figure.log->strays(names);
    tell("allocbench: killed processes that a worker left behind: {}\n", fmt::join(names, ", "));
  };
  listener.idle = [&] {
    for (const FigureRun& figure : open) figure.file->require_file();
    progress.tick();
  };
  return listener;
}

// Describes the cells that got no round or too few rounds for lack of time.
std::string text_of(const Supervisor::Rest& rest, const RunOptions& options) {
  if (rest.not_begun == 0 && rest.cut == 0) return "";
  std::vector<std::string> parts;
  if (rest.not_begun > 0) parts.push_back(fmt::format("{} not begun", counted(rest.not_begun, "cell")));
  if (rest.cut > 0) parts.push_back(fmt::format("{} with too few rounds", counted(rest.cut, "cell")));
  return fmt::format("The time limit (--minutes {:.4g}) ended the run: {}. {}{}{}.\n", options.minutes.value_or(0),
                     fmt::join(parts, ", "), rest.no_progress ? "No round ended in this time. " : "",
                     options.to_run_left_out, rest.no_progress ? ", but with a larger --minutes" : "");
}

}  // namespace

Target choose_target(const RunOptions& options) {
  // Workers inherit this variable and read the data files from the folder.
  if (!options.data.empty()) setenv("ALLOCBENCH_DATA", std::filesystem::absolute(options.data).c_str(), 1);
  Target target = find_target(options);
  target.catalogue = describe_worker(target.program);
  if (target.program.backend == "cpu") target.executor = fmt::format("{}", fmt::join(options.executor.words(), " "));
  warn_about(target.catalogue.broken_plugins);
  target.other = other_catalogue(options, target.program.backend);
  if (!target.device || options.quiet) return target;
  for (const std::string& warning : warnings_about(*target.device)) {
    tell("allocbench: warning: {}\n", warning);
  }
  return target;
}

std::string read_config_text(const std::string& path) {
  return read_text_file(path, "The config", limits::config_bytes);
}

std::optional<std::uint64_t> memory_of(const RunOptions& options, const Target& target) {
  if (options.memory_bytes) return options.memory_bytes;
  return target.device ? target.device->memory_bytes : std::nullopt;
}

Config checked_config(const RunOptions& options, const std::string& path, const std::string& text,
                      const Target& target) {
  Problems problems;
  Config config = read_config(
      text, path, {target.catalogue, target.other ? &*target.other : nullptr},
      {options.timeout, options.seed, options.full, options.verify == "full", memory_of(options, target)}, problems);
  require_none(problems, path);
  return config;
}

Plan checked_plan(const Config& config, const Target& target) {
  Problems problems;
  Plan plan = make_plan(config, target.catalogue, problems);
  require_none(problems, config.path);
  return plan;
}

std::vector<std::optional<std::uint64_t>> device_heaps(const WorkerProgram& program, const Plan& plan) {
  std::vector<std::optional<std::uint64_t>> bytes;
  for (const Batch& batch : plan.batches) bytes.push_back(ask_device_heap(program, batch));
  return bytes;
}

namespace {

// The numbers of worker processes that are needed to measure the least number of rounds of every cell.
struct Starts {
  std::vector<std::pair<std::size_t, std::string>> by_allocator;
  std::size_t all = 0;
};

Starts starts_of(const std::vector<const Plan*>& plans) {
  std::vector<const Batch*> batches;
  std::uint64_t rounds = 0;
  for (const Plan* plan : plans) {
    for (const Batch& batch : plan->batches) {
      batches.push_back(&batch);
      for (const Cell& cell : batch.cells) rounds = std::max(rounds, cell.least_rounds);
    }
  }
  Starts starts;
  for (const Turn& turn : make_turns(batches)) {
    std::size_t of_turn = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) of_turn += process_starts(turn, round);
    starts.by_allocator.emplace_back(of_turn, turn.front()->allocator);
    starts.all += of_turn;
  }
  return starts;
}

template <class Visit>
void for_each_cell(const Plan& plan, Visit visit) {
  for (const Batch& batch : plan.batches) std::for_each(batch.cells.begin(), batch.cells.end(), visit);
}

// Results are written during the run, so they remain if the run is killed.
std::function<void(FigureRun::News)> news_of(const Figure& figure, const RunOptions& options, ResultsWriter& writer) {
  return [&](FigureRun::News news) {
    if (news != FigureRun::News::first_rounds) return writer.write_soon(figure.folder);
    write_results_of(figure.folder);
    options.first_figure(figure.folder);
  };
}

}  // namespace

std::uint64_t work_of(const Plan& plan) {
  // The estimate is rough: a process start counts as five rounds of a cell.
  std::uint64_t work = 5 * starts_of({&plan}).all;
  for_each_cell(plan, [&](const Cell& cell) { work += cell.least_rounds; });
  return work;
}

std::string describe_measuring(const std::vector<const Plan*>& plans, const EarlierResults& earlier) {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  double seconds = 0;
  const Forecaster forecaster(earlier);
  for (const Plan* plan : plans) {
    for_each_cell(*plan, [&](const Cell& cell) {
      least += cell.least_rounds;
      most += cell.rounds;
      seconds += forecaster.about(plan->figure, cell).seconds;
    });
  }
  Starts starts = starts_of(plans);
  const std::size_t allocators = starts.by_allocator.size();
  std::stable_sort(starts.by_allocator.begin(), starts.by_allocator.end(),
                   [](auto& one, auto& other) { return one.first > other.first; });
  starts.by_allocator.resize(std::min<std::size_t>(allocators, 5));
  std::vector<std::string> most_starts;
  for (const auto& [count, allocator] : starts.by_allocator) {
    most_starts.push_back(fmt::format("{} {}", allocator, count));
  }
  std::string text = fmt::format(
      "All cells together: {}{}. At least {} for {} if nothing fails. Allocators with most processes: {}.\n",
      least == most ? "" : fmt::format("{} to ", least), counted(most, "round"), counted(starts.all, "worker process"),
      counted(allocators, "allocator"), fmt::join(most_starts, ", "));
  if (!earlier.empty()) {
    text += fmt::format("According to earlier results the first rounds take about {} plus worker start-up.\n",
                        format_duration(seconds));
  }
  return text;
}

void require_earlier_folder(const RunOptions& options, const std::string& named,
                            const std::vector<std::string>& folders) {
  if (!options.resume && !options.only_failed) return;
  const auto exists = [](const std::string& folder) { return std::filesystem::exists(folder); };
  if (exists(named) || std::any_of(folders.begin(), folders.end(), exists)) return;
  const std::string nearest = nearest_folder(named);
  const char* const option = options.resume ? "--resume" : "--only-failed";
  throw UsageError(fmt::format(
      "There is no folder {}, so there is nothing to {}.{} Name the folder of the run with --out, or drop {} to start "
      "a "
      "run.",
      named, options.resume ? "resume" : "rerun", nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest),
      options.resume && options.only_failed ? "--resume and --only-failed" : option));
}

Figure prepare_figure(const RunOptions& options, const Target& target, Config config, Plan plan, std::string folder) {
  if (!config.trace.empty() && !options.resume && std::filesystem::exists(config.trace + "/trace.json")) {
    throw UsageError(
        fmt::format("/trace: {} already contains a trace. Choose another folder, or remove this trace.", config.trace));
  }
  if (interrupted()) throw Interrupted();  // before --force deletes an old run
  RunHistory history = prepare_folder(folder, folder_use(options), config, target.origin(), options.allow_mixed);
  return {std::move(config), std::move(plan), std::move(folder), std::move(history)};
}

Ending measure(const RunOptions& options, const Target& target, const std::vector<Figure>& figures,
               EarlierResults earlier) {
  const TimeLimit time(options.minutes ? std::optional(60 * *options.minutes) : std::nullopt);
  Forecaster forecaster(std::move(earlier));
  ResultsWriter writer;
  std::vector<FigureRun> open;
  std::size_t cells = 0;
  std::uint64_t steps = 0;
  for (const Figure& figure : figures) {
    FigureRun run(figure, selection(options), target.origin(), forecaster);
    if (run.cells_to_run() == 0) {
      tell("allocbench: no cells left to measure in {}\n", figure.folder);
      continue;
    }
    cells += run.cells_to_run();
    steps += run.steps_to_run();
    run.open_log();
    run.news = news_of(figure, options, writer);
    open.push_back(std::move(run));
  }
  // This step writes the event `run` to each log. It comes after all logs are open. Otherwise, if a log could not be
  // opened, the other logs would contain a run that never began.
  for (FigureRun& each : open) {
    each.log->run(each.figure.config, target.catalogue, target.executor, each.figure.plan,
                  each.figure.history.run != nullptr, each.figure.shard);
  }
  Ending ending;
  if (open.empty()) return ending;
  Progress progress(cells, steps, time, options.quiet);
  const ScratchFolder scratch;
  WorkerSession session({target.program, options.device, options.executor, options.profile, options.one_by_one, time},
                        listener_of(open, progress));
  const auto begin = WorkerProcess::Clock::now();
  const std::optional<std::uint64_t> memory = memory_of(options, target);
  Supervisor supervisor(open, time, forecaster, session, progress);
  try {
    ending.interrupted = !supervisor.run(memory);
  } catch (const LogLost&) {
    throw;  // nothing is left to report
  } catch (const EnvironmentError& error) {
    ending.environment = error.what();
  }
  const Supervisor::Rest rest = supervisor.rest();
  ending.cut = rest.not_begun + rest.cut > 0;
  ending.no_progress = rest.no_progress;
  if (rest.too_large > 0) {
    ending.rest = fmt::format(
        "{} skipped: the pool needs more memory than the device has ({}). Set \"pool\": \"fit\" in a config of one "
        "pool size to get a pool that fits.\n",
        counted(rest.too_large, "cell") + (rest.too_large == 1 ? " was" : " were"), format_memory(memory.value_or(0)));
  }
  ending.rest += text_of(rest, options);
  if (options.profile) {
    session.stop();
    const std::chrono::duration<double> total = WorkerProcess::Clock::now() - begin;
    ending.profile = session.wall_time().text(total.count());
  }
  return ending;
}

Results write_results_of(const std::string& folder) {
  const std::string path = events_path(folder);
  Results results = reduce(read_history(read_log_lines(path).lines, path));
  write_results(results, folder);
  return results;
}

std::string summary_of(const Results& results, std::size_t cells, const std::string& folder) {
  std::map<Status, std::size_t> counts;
  for (const CellResult& cell : results.cells) ++counts[cell.status()];
  std::string text = fmt::format("{}: {}", results.figure, counted(cells, "cell"));
  for (const auto& [status, count] : counts) text += fmt::format(", {} {}", count, word(status));
  return text + fmt::format("{}  {}\n", what_is_missing(results), folder);
}

std::string options_to_continue(const RunOptions& options, const std::string& backend, bool no_progress) {
  RunOptions again = options;
  if (no_progress) again.minutes.reset();
  again.resume = true;
  again.force = again.profile = false;
  std::string text = fmt::format(" --backend {}", backend);
  if (options.device != 0) text += fmt::format(" --device {}", options.device);
  for (const std::string& word : measuring_words(again)) text += " " + quoted(word);
  return text;
}

int exit_code_of(const Ending& ending, bool ok, const std::string& finished, const std::string& command) {
  show("{}{}", ending.rest, ending.profile);
  const bool stopped = !ending.environment.empty();
  if (!ending.interrupted && !stopped && !ending.cut) return ok ? exit_all_ok : exit_some_not_ok;
  const char* const how = ending.interrupted ? "interrupted" : stopped ? "stopped" : "time limit reached";
  tell("allocbench: {}. {}{}\n", how, finished, command.empty() ? "" : " Continue with\n  " + command);
  if (!ending.interrupted && !stopped) return exit_some_not_ok;
  if (ending.interrupted) return exit_interrupted;
  tell("allocbench: {}\n", ending.environment);
  return exit_environment;
}

}  // namespace allocbench::front
