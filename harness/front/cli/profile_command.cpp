// `allocbench profile CELL` runs one cell in the CUDA worker under Nsight Compute.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <boost/process/system.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/front/cli/kernel_table.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/cli/suggestions.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/text_file.hpp"
#include "protocol/command_json.hpp"
#include "protocol/parameter_json.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;
namespace process = boost::process;

constexpr std::uint64_t longest_table_bytes = 64u << 20;

// The name of a cell begins with the name of its config. The name of a config is its path below configs/ without .json.
std::string config_of(const ProfileOptions& options) {
  if (!options.config.empty()) return options.config;
  for (auto end = options.cell.size(); end != std::string::npos && end != 0; end = options.cell.rfind('/', end - 1)) {
    const fs::path path = fs::path(options.configs) / (options.cell.substr(0, end) + ".json");
    if (fs::is_regular_file(path)) return path.string();
  }
  throw UsageError(
      fmt::format("The name of a cell begins with the name of its config, but {} has no config for \"{}\". Name the "
                  "config with --config.",
                  options.configs, options.cell));
}

struct Choice {
  Batch batch;
  Cell cell;
};

Choice find_cell(const Plan& plan, const std::string& wanted, const std::string& config) {
  std::vector<std::string> names;
  for (const Batch& batch : plan.batches) {
    for (const Cell& cell : batch.cells) {
      if (cell.name == wanted || cell.id == wanted) return {batch, cell};
      names.push_back(cell.name);
    }
  }
  throw UsageError(fmt::format("{} has no cell \"{}\".{} `allocbench {} --dry-run` shows all.", config, wanted,
                               did_you_mean(wanted, names), quoted(config)));
}

// Throws UsageError if the workload does not have a selected phase, because ncu would then find no kernel.
void check_phases(const ProfileOptions& options, const Catalogue& catalogue, const Cell& cell) {
  const auto& known = find_entry(catalogue.workloads, cell.workload)->phases;
  for (const std::string& phase : options.phases) {
    if (std::find(known.begin(), known.end(), phase) != known.end()) continue;
    throw UsageError(
        fmt::format("--phase: {} has no phase \"{}\". Allowed: {}.", cell.workload, phase, fmt::join(known, ", ")));
  }
}

// Returns --ncu if it is given. Otherwise searches PATH, then the folder of the CUDA toolkit, which is often not on
// PATH.
std::string find_ncu(const ProfileOptions& options) {
  if (!options.ncu.empty()) return options.ncu;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / "ncu";
    if (!folder.empty() && access(program.c_str(), X_OK) == 0) return program.string();
  }
  throw EnvironmentError(
      "Nsight Compute is not installed: there is no program ncu on PATH or in /usr/local/cuda/bin. Install it with the "
      "CUDA toolkit (NVIDIA's package cuda-nsight-compute-13-0 for CUDA 13.0), or name the program with --ncu.");
}

// Returns the cell in the form that `worker --run` takes.
std::string cell_text(const Cell& cell) {
  nlohmann::ordered_json json{{"allocator", cell.allocator},
                              {"allocator_parameters", protocol::to_json(cell.allocator_parameters)},
                              {"pool_bytes", cell.pool_bytes},
                              {"workload", cell.workload},
                              {"parameters", protocol::to_json(cell.workload_parameters)}};
  protocol::CellSettings settings = cell.settings;
  settings.counted_passes = 1;  // a profile shows neither counts of passes nor energy
  settings.energy_seconds = 0;
  json.update(protocol::to_json(settings));
  return json.dump();
}

std::vector<std::string> command_of(const ProfileOptions& options, const WorkerProgram& worker, const Choice& choice,
                                    const std::string& ncu, const std::string& table) {
  // With `--clock-control none`, ncu does not change the clocks, so the GPU has the clocks of a study.
  std::vector<std::string> command = {ncu, "--log-file", table, "--clock-control", "none", "--nvtx"};
  // The worker marks each phase as a range inside the range `sample`.
  if (options.phases.empty()) command.insert(command.end(), {"--nvtx-include", "sample/"});
  for (const std::string& phase : options.phases) command.insert(command.end(), {"--nvtx-include", "sample/" + phase});
  for (const std::string& option : options_of_ncu()) command.push_back(option);
  command.push_back(worker.path);
  for (const std::string& option : plugin_options(choice.batch)) command.push_back(option);
  command.insert(command.end(),
                 {"--device", fmt::format("{}", options.device), "--samples", "1", "--run", cell_text(choice.cell)});
  return command;
}

// A file that ncu writes. It is deleted at the end unless the user wants it.
class TableFile {
 public:
  explicit TableFile(const std::string& wanted) : path_(wanted), keeps_(!wanted.empty()) {
    if (!keeps_) path_ = (fs::temp_directory_path() / fmt::format("allocbench-profile-{}.csv", getpid())).string();
  }
  ~TableFile() {
    std::error_code error;  // an error is ignored
    if (!keeps_) fs::remove(path_, error);
  }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool keeps_;
};

int run(const std::vector<std::string>& command) {
  try {
    // The worker's own output about its sample goes to stderr and is not part of the answer, because ncu slows the
    // sample down.
    return process::system(command.front(), process::args(std::vector(command.begin() + 1, command.end())),
                           process::std_out > stderr);
  } catch (const process::process_error& error) {
    throw EnvironmentError(fmt::format("{} cannot be started: {}.", command.front(), error.code().message()));
  }
}

// Returns the errors and warnings of ncu, for example that counters are not permitted.
std::string complaints_in(const std::string& table) {
  std::string text;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==ERROR==") || line.starts_with("==WARNING==")) text += "\n  " + line;
  }
  return text;
}

}  // namespace

int profile_command(const ProfileOptions& options) {
  const std::string path = config_of(options);
  RunOptions run_options;
  run_options.backend = "cuda";
  run_options.workers = options.workers;
  const WorkerProgram worker = WorkerFolder(options.workers).require("cuda");
  const Target target{worker, std::nullopt, describe_worker(worker), std::nullopt};
  const Config config = checked_config(run_options, path, read_config_text(path), target);
  const Choice choice = find_cell(checked_plan(config, target), options.cell, path);
  check_phases(options, target.catalogue, choice.cell);
  const std::string ncu = options.dry_run && options.ncu.empty() ? "ncu" : find_ncu(options);
  const TableFile file(options.out);
  const std::vector<std::string> command = command_of(options, worker, choice, ncu, file.path());
  if (options.dry_run) {
    show("{}\n", quoted(command));
    return exit_all_ok;
  }
  const int code = run(command);
  std::error_code error;
  const std::string table = fs::exists(file.path(), error) && fs::file_size(file.path(), error) != 0
                                ? read_text_file(file.path(), "The table of ncu", longest_table_bytes)
                                : "";
  if (code != 0) {
    tell("allocbench: ncu ended with exit code {}. The command was\n  {}{}\n", code, quoted(command),
         complaints_in(table));
    return exit_some_not_ok;
  }
  std::vector<MeasuredKernel> kernels;
  try {
    kernels = read_kernels(table);
  } catch (const UsageError& problem) {
    throw EnvironmentError(
        fmt::format("{} The command was\n  {}{}", problem.what(), quoted(command), complaints_in(table)));
  }
  show("{}: the kernels of {}\n{}\n{}\n", choice.cell.name,
       options.phases.empty() ? "one sample" : fmt::format("the phase {}", fmt::join(options.phases, ", ")),
       kernel_table(kernels), quoted(command));
  return exit_all_ok;
}

}  // namespace allocbench::front
