// `allocbench --config F.json`: from the config's text to the table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/plan/plan_text.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/run/interrupt.hpp"
#include "harness/front/run/output_folder.hpp"
#include "harness/front/run/supervisor.hpp"
#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {
namespace {

// Starts a worker only to hear about its device.
protocol::Device probe(const WorkerProgram& program, const RunOptions& options) {
  protocol::Device device;
  SessionListener listener;
  listener.device = [&](const protocol::Device& told) { device = told; };
  WorkerSession session({program, options.device, options.os_threads}, listener);
  session.start(0);
  session.stop();
  if (device.name.empty()) device.name = "an unnamed device";
  return device;
}

struct Target {
  WorkerProgram program;
  std::optional<protocol::Device> device;  // none only for a dry run where none can be reached
};

Target choose_target(const RunOptions& options) {
  const WorkerFolder folder(options.workers);
  if (options.backend == "auto") {
    std::string why = "there is no CUDA worker";
    if (const auto cuda = folder.find("cuda")) {
      try {
        Target target{*cuda, probe(*cuda, options)};
        fmt::print(stderr, "allocbench: back end cuda on {} (chosen by --backend auto)\n", target.device->name);
        return target;
      } catch (const EnvironmentError& error) {
        why = error.what();
      }
    }
    Target target{folder.require("cpu"), std::nullopt};
    target.device = probe(target.program, options);
    fmt::print(stderr, "allocbench: back end cpu on {} (chosen by --backend auto: {})\n", target.device->name, why);
    return target;
  }
  Target target{folder.require(options.backend), std::nullopt};
  try {
    target.device = probe(target.program, options);
  } catch (const EnvironmentError& error) {
    // A plan needs no device.
    if (!options.dry_run && !options.print_config) throw;
    fmt::print(stderr, "allocbench: back end {} without a device: {}\n", options.backend, error.what());
    return target;
  }
  fmt::print(stderr, "allocbench: back end {} on {}\n", options.backend, target.device->name);
  return target;
}

// What the other back end's worker can run; nullopt where it is not built or cannot say.
std::optional<Catalogue> other_catalogue(const RunOptions& options, const std::string& backend) {
  const auto program = WorkerFolder(options.workers).find(backend == "cpu" ? "cuda" : "cpu");
  if (!program) return std::nullopt;
  try {
    return describe_worker(*program);
  } catch (const EnvironmentError&) {
    return std::nullopt;  // this run does not need it
  }
}

void require_none(const Problems& problems, const std::string& path) {
  if (problems.empty()) return;
  std::string text = format_problems(path, problems);
  text.pop_back();  // the error handler ends the line
  throw UsageError(text);
}

std::vector<std::optional<std::uint64_t>> device_heaps(const WorkerProgram& program, const Plan& plan) {
  std::vector<std::optional<std::uint64_t>> bytes;
  for (const Batch& batch : plan.batches) bytes.push_back(device_heap_for(program, batch));
  return bytes;
}

std::string resume_command(const RunOptions& options, const std::string& backend, const std::string& folder) {
  std::string command = fmt::format("allocbench --config {} --backend {} --out {}", options.config, backend, folder);
  if (options.device != 0) command += fmt::format(" --device {}", options.device);
  if (!options.filter.empty()) command += fmt::format(" --filter '{}'", options.filter);
  if (options.timeout) command += fmt::format(" --timeout {}", *options.timeout);
  if (options.seed) command += fmt::format(" --seed {}", *options.seed);
  if (options.os_threads) command += fmt::format(" --os-threads {}", *options.os_threads);
  if (!options.data.empty()) command += fmt::format(" --data {}", options.data);
  if (!options.workers.empty()) command += fmt::format(" --workers {}", options.workers);
  if (options.allow_mixed) command += " --allow-mixed";
  return command + " --resume";
}

FolderUse folder_use(const RunOptions& options) {
  if (options.force) return FolderUse::start_over;
  return options.resume || options.only_failed ? FolderUse::go_on : FolderUse::begin;
}

Selection selection(const RunOptions& options) {
  if (!options.only_failed) return Selection::unfinished;
  return options.resume ? Selection::unfinished_and_failed : Selection::failed;
}

// How measuring ended; results are written in every case.
struct Ending {
  bool interrupted = false;
  std::string environment;  // what made it stop; empty = nothing did
};

Ending measure(const RunOptions& options, const Target& target, const Catalogue& catalogue, const Config& config,
               const Plan& plan, const std::string& folder, const RunHistory& history, const Origin& origin) {
  Ending ending;
  FigureRun figure(plan, device_heaps(target.program, plan), history, selection(options), origin);
  if (figure.cells_to_run() == 0) {
    fmt::print(stderr, "allocbench: no cells left to measure in {}\n", folder);
    return ending;
  }
  EventLog file(events_path(folder));
  RunLog log(file);
  log.run(config, catalogue, plan, history.run != nullptr);
  Progress progress(figure.cells_to_run(), figure.steps_to_run(), options.quiet);
  SessionListener listener;
  listener.device = [&](const protocol::Device& device) { log.device(device); };
  listener.strays = [&](const std::vector<std::string>& names) {
    log.strays(names);
    fmt::print(stderr, "allocbench: killed what a worker left behind: {}\n", fmt::join(names, ", "));
  };
  listener.idle = [&] {
    file.require_file();
    progress.tick();
  };
  WorkerSession session({target.program, options.device, options.os_threads}, listener);
  try {
    ending.interrupted = !Supervisor({{figure, log}}, session, progress).run();
  } catch (const LogLost&) {
    throw;  // nothing is left to report
  } catch (const EnvironmentError& error) {
    ending.environment = error.what();
  }
  return ending;
}

int report(const RunOptions& options, const Plan& plan, const std::string& folder, const Ending& ending) {
  const std::string path = events_path(folder);
  const Results results = reduce(read_history(read_log_lines(path).lines, path));
  write_results(results, folder);
  if (options.table) fmt::print("{}", results_table(results, colours_on_stdout()));
  std::fflush(stdout);
  if (!options.quiet) fmt::print(stderr, "allocbench: results are in {}\n", folder);
  if (ending.interrupted || !ending.environment.empty()) {
    fmt::print(stderr, "allocbench: {}. {} of {} cells are finished. Continue with\n  {}\n",
               ending.interrupted ? "interrupted" : "stopped", results.cells.size(), plan.cell_count(),
               resume_command(options, plan.backend, folder));
    if (ending.interrupted) return exit_interrupted;
    fmt::print(stderr, "allocbench: {}\n", ending.environment);
    return exit_environment;
  }
  return all_ok(results) ? exit_all_ok : exit_some_not_ok;
}

// The config, free of mistakes in any of its parts.
Config checked_config(const RunOptions& options, const std::string& text, const Catalogue& catalogue) {
  const std::optional<Catalogue> other = other_catalogue(options, catalogue.backend);
  Problems problems;
  Config config = read_config(text, options.config, {catalogue, other ? &*other : nullptr},
                              {options.timeout, options.seed}, problems);
  require_none(problems, options.config);
  return config;
}

Plan checked_plan(const RunOptions& options, const Config& config, const Target& target, const Catalogue& catalogue) {
  Problems problems;
  Plan plan = make_plan(config, catalogue, problems);
  if (target.device && target.device->memory_bytes) {
    check_pools(plan, *target.device->memory_bytes, target.device->name, problems);
  }
  require_none(problems, options.config);
  if (!options.filter.empty()) filter_plan(plan, options.filter);
  if (!options.cells.empty()) keep_cells(plan, options.cells);
  if (plan.batches.empty()) {
    throw UsageError(fmt::format(
        "{}: this version defines none of the reference's cells. Keep a reference of this version.", options.config));
  }
  return plan;
}

}  // namespace

int run_command(const RunOptions& options) {
  install_interrupt_handlers();
  // Workers read the files; they inherit the environment.
  if (!options.data.empty()) setenv("ALLOCBENCH_DATA", std::filesystem::absolute(options.data).c_str(), 1);
  const std::string text = read_text_file(options.config, "The config", limits::config_bytes);
  const Target target = choose_target(options);
  const Catalogue catalogue = describe_worker(target.program);
  const Config config = checked_config(options, text, catalogue);
  if (options.print_config) {
    fmt::print("{}\n", config.effective->dump(2));
    return exit_all_ok;
  }
  if (config.only_draws) {
    fmt::print(
        "{} measures nothing. It is drawn from the results of other configs:\n"
        "  python3 -m plots {} RUN_FOLDER... --out DIR\n",
        config.name, options.config);
    return exit_all_ok;
  }
  const Plan plan = checked_plan(options, config, target, catalogue);
  if (options.dry_run) {
    fmt::print("{}", describe_plan(plan, device_heaps(target.program, plan)));
    return exit_all_ok;
  }
  const std::string folder = options.out.empty() ? default_folder(config) : options.out;
  const Origin origin = origin_of(sources_with(catalogue), target.device);
  const RunHistory history = prepare_folder(folder, folder_use(options), config, origin, options.allow_mixed);
  if (options.only_failed && history.run == nullptr) {
    throw UsageError(fmt::format("No earlier run in {}; drop --only-failed.", folder));
  }
  const Ending ending = measure(options, target, catalogue, config, plan, folder, history, origin);
  return report(options, plan, folder, ending);
}

}  // namespace allocbench::front
