// All commands that measure share this file: the run of a config, `study`, `try` and `compare --with-reference`. It
// chooses the back end, reads configs and measures.
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
#include "harness/front/workers/worker_program.hpp"

namespace allocbench::front {

// The worker that measures, and what it can run.
struct Target {
  WorkerProgram program;
  std::optional<protocol::Device> device;  // device of the worker; empty only if nothing is measured
  Catalogue catalogue;
  // Catalogue of the other back end's worker. It is empty if that worker is not built or does not answer.
  std::optional<Catalogue> other;

  std::string executor = {};  // options of the CPU executor, as words; empty: none, or another back end

  Origin origin() const { return origin_of(sources_with(catalogue), executor, device); }
};

// Chooses the back end. Prints it to stderr, with the conditions that disturb times on the device. Throws Interrupted
// after Ctrl-C.
Target choose_target(const RunOptions& options);

// Returns the text of a config's file.
std::string read_config_text(const std::string& path);
// Returns the checked config. Throws UsageError with the mistakes of all its parts.
Config checked_config(const RunOptions& options, const std::string& path, const std::string& text,
                      const Target& target);
Plan checked_plan(const Config& config, const Target& target);

std::vector<std::optional<std::uint64_t>> device_heaps(const WorkerProgram& program, const Plan& plan);

// Returns the last lines of --dry-run: rounds, worker processes, and, with earlier results, how long the first rounds
// will probably take.
std::string describe_measuring(const std::vector<const Plan*>& plans, const EarlierResults& earlier);

// Estimates how long measuring takes, in rounds of cells. The estimate only serves to compare the configs of a study.
std::uint64_t work_of(const Plan& plan);

// Throws UsageError if --resume or --only-failed has no folder of an earlier run: none of `folders` exists. `named` is
// the folder that the user named.
void require_earlier_folder(const RunOptions& options, const std::string& named,
                            const std::vector<std::string>& folders);

Figure prepare_figure(const RunOptions& options, const Target& target, Config config, Plan plan, std::string folder);

// Describes how measuring ended. The caller writes the results in every case.
struct Ending {
  bool interrupted = false;
  std::string environment;   // why measuring stopped early, or empty
  std::string profile;       // how the wall time was spent, with --profile
  std::string rest;          // cells left out for lack of time or memory, or empty
  bool cut = false;          // whether something was left out for lack of time
  bool no_progress = false;  // whether the time limit was over before any round or cell ended
};

Ending measure(const RunOptions& options, const Target& target, const std::vector<Figure>& figures,
               EarlierResults earlier);

// Makes the results files from the log.
Results write_results_of(const std::string& folder);

// Returns one line for a config, because the tables of a whole group are too long to read.
std::string summary_of(const Results& results, std::size_t cells, const std::string& folder);

// Returns the options of a command to continue, without --out and the selection of configs. With `no_progress` it has
// no time limit, because the same limit would again measure nothing.
std::string options_to_continue(const RunOptions& options, const std::string& backend, bool no_progress);

// Prints which cells were left out and, with --profile, how the time was spent. If the run ended early, also prints
// `finished` and the command to continue. `command` is empty if another program prints this command. Returns the exit
// code.
int exit_code_of(const Ending& ending, bool ok, const std::string& finished, const std::string& command);

}  // namespace allocbench::front
