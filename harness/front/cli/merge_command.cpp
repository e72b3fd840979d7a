// `allocbench merge DIR... --out DIR` joins the runs of several folders into one folder per config.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/results/merged_runs.hpp"
#include "harness/front/results/run_files.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

void write_log(const MergedRun& run, const std::string& folder) {
  create_folder(folder);
  write_text_file(events_path(folder), fmt::format("{}\n", fmt::join(run.lines, "\n")));
}

bool is_inside(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// Returns the path without links, `.`, `..` and a slash at the end. Its last parts need not exist.
fs::path plain(const fs::path& path) {
  const fs::path whole = fs::weakly_canonical(fs::absolute(path));
  return whole.has_filename() ? whole : whole.parent_path();
}

// Returns the folders of the inputs. A named file stands for its folder, and a pattern for what it matches.
std::vector<fs::path> input_folders(const std::string& named) {
  if (fs::is_directory(named)) return {named};
  std::vector<fs::path> folders;
  try {
    for (const fs::path& file : run_files(named)) folders.push_back(fs::absolute(file).parent_path());
  } catch (const UsageError&) {
    // merge_runs() reports inputs without a run.
  }
  return folders;
}

// Results inside an input would be an input of the next merge, and an input inside --out would look like a result.
void require_apart(const MergeOptions& options) {
  const fs::path out = plain(options.out);
  for (const std::string& named : options.folders) {
    for (const fs::path& folder : input_folders(named)) {
      const fs::path input = plain(folder);
      if (!is_inside(out, input) && !is_inside(input, out)) continue;
      throw UsageError(
          fmt::format("--out {} and the input {} must be two folders, and neither may contain the other. Nothing was "
                      "written. Choose another --out.",
                      options.out, named));
    }
  }
}

}  // namespace

int merge_command(const MergeOptions& options) {
  const MergedRuns merged = merge_runs(options.folders, options.allow_mixed);
  require_apart(options);
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
