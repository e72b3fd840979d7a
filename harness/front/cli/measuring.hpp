// The common part of `allocbench --config` and `allocbench study`: choosing the back end, reading configs, measuring.
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
  std::optional<protocol::Device> device;  // nothing only for a dry run without a reachable device
  Catalogue catalogue;
  std::optional<Catalogue> other;  // catalogue of the other back end's worker; nothing if it is not built

  Origin origin() const { return origin_of(sources_with(catalogue), device); }
};

// Prints to stderr the back end and the conditions that disturb times on the device.
Target choose_target(const RunOptions& options);

// The text of a config's file.
std::string read_config_text(const std::string& path);
// The checked config. Throws UsageError with all mistakes of all its parts.
Config checked_config(const RunOptions& options, const std::string& path, const std::string& text,
                      const Target& target);
Plan checked_plan(const Config& config, const Target& target);

std::vector<std::optional<std::uint64_t>> device_heaps(const WorkerProgram& program, const Plan& plan);

// For --dry-run: rounds, worker processes, and how long the first rounds will probably take.
std::string describe_measuring(const std::vector<const Plan*>& plans, const EarlierResults& earlier);

// How long measuring takes, in units that compare configs of a study: rounds of cells.
std::uint64_t work_of(const Plan& plan);

Figure prepare_figure(const RunOptions& options, const Target& target, Config config, Plan plan, std::string folder);

// How measuring ended. Results are written in every case.
struct Ending {
  bool interrupted = false;
  std::string environment;  // why it stopped early; empty = it did not
  std::string profile;      // with --profile: how the wall time was spent
  std::string rest;         // cells left out for lack of time; empty = none
  bool cut = false;         // something was left out for lack of time
};

Ending measure(const RunOptions& options, const Target& target, const std::vector<Figure>& figures,
               EarlierResults earlier);

// Makes the files of results from the log.
Results write_results_of(const std::string& folder);

// One line per config, because the tables of a whole group are too long to read.
std::string summary_of(const Results& results, std::size_t cells, const std::string& folder);

// The options of a command to continue, apart from --out and the selection of configs.
std::string options_to_continue(const RunOptions& options, const std::string& backend);

// Prints `command`, the command to continue, if a run ended early (empty if another program prints it). Returns the
// exit code.
int exit_code_of(const Ending& ending, bool ok, const std::string& finished, const std::string& command);

}  // namespace allocbench::front
