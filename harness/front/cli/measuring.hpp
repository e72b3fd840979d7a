// What `allocbench --config` and `allocbench study` share: the back end, configs that are free of mistakes, measuring.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/config/config.hpp"
#include "harness/front/log/origin.hpp"
#include "harness/front/log/run_history.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/run/forecast.hpp"
#include "harness/front/run/supervisor.hpp"
#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {

// The worker that measures.
struct Target {
  WorkerProgram program;
  std::optional<protocol::Device> device;  // none only for a dry run where none can be reached
  Catalogue catalogue;
  std::optional<Catalogue> other;  // what the other back end's worker can run; none where it is not built

  Origin origin() const { return origin_of(sources_with(catalogue), device); }
};

// Prints on stderr which back end it is, and what can spoil times on the device.
Target choose_target(const RunOptions& options);

// The text of a config's file.
std::string read_config_text(const std::string& path);
// The config, free of mistakes in any of its parts. Throws UsageError with all mistakes.
Config checked_config(const RunOptions& options, const std::string& path, const std::string& text,
                      const Target& target);
Plan checked_plan(const Config& config, const Target& target);

std::vector<std::optional<std::uint64_t>> device_heaps(const WorkerProgram& program, const Plan& plan);

// For --dry-run: rounds, worker processes, and how long the first rounds will probably take.
std::string describe_measuring(const std::vector<const Plan*>& plans, const EarlierResults& earlier);

// How long measuring takes, in units that compare configs of a study: rounds of cells.
std::uint64_t work_of(const Plan& plan);

Figure prepare_figure(const RunOptions& options, const Target& target, Config config, Plan plan, std::string folder);

// How measuring ended; results are written in every case.
struct Ending {
  bool interrupted = false;
  std::string environment;  // what made it stop; empty = nothing did
  std::string profile;      // with --profile: where the wall time went
  std::string rest;         // what the time was too short for; empty = nothing
  bool cut = false;         // it was too short for something
};

Ending measure(const RunOptions& options, const Target& target, const std::vector<Figure>& figures,
               EarlierResults earlier);

// Makes the files of results from the log.
Results write_results_of(const std::string& folder);

// A line for a config: the tables of a whole group are too long to read.
std::string summary_of(const Results& results, std::size_t cells, const std::string& folder);

// The options that a command to continue needs besides what it measures and --out.
std::string options_to_continue(const RunOptions& options, const std::string& backend);

// Tells how to continue a run that ended early, with `command` (empty where another program tells); the exit code in
// every case.
int exit_code_of(const Ending& ending, bool ok, const std::string& finished, const std::string& command);

}  // namespace allocbench::front
