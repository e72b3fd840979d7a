// `allocbench merge DIR... --out DIR` joins the runs of several folders into one folder per config.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/results/merged_runs.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

void write_log(const MergedRun& run, const std::string& folder) {
  create_folder(folder);
  write_text_file(events_path(folder), fmt::format("{}\n", fmt::join(run.lines, "\n")));
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
