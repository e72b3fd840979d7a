// `allocbench merge DIR... --out DIR` joins the runs of several folders into one folder per config.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/results/merged_runs.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

void write_log(const MergedRun& run, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("Cannot create the folder {}: {}.", folder.string(), error.message()));
  const std::string path = events_path(folder.string());
  std::ofstream file(path, std::ios::binary);
  for (const std::string& line : run.lines) file << line << "\n";
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written: {}.", path, std::strerror(errno)));
}

}  // namespace

int merge_command(const MergeOptions& options) {
  const MergedRuns merged = merge_runs(options.folders, options.allow_mixed);
  const fs::path out = options.out;
  for (const MergedRun& run : merged.runs) {
    if (!fs::exists(out / run.figure)) continue;
    throw UsageError(
        fmt::format("{} already exists. Nothing was written. Choose another --out.", (out / run.figure).string()));
  }
  for (const MergedRun& run : merged.runs) {
    const std::string folder = (out / run.figure).string();
    write_log(run, folder);
    const Results results = write_results_of(folder);
    show("{}", summary_of(results, results.cells.size() + results.not_measured, folder));
  }
  for (const std::string& complaint : merged.complaints) tell("allocbench: {}\n", complaint);
  return merged.complaints.empty() ? exit_all_ok : exit_some_not_ok;
}

}  // namespace allocbench::front
