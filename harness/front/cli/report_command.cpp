// `allocbench report PATH`: everything but the event log can be made again. `report PATH --html` and `advise` are the
// work of the Python package.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/plots_program.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/results/run_files.hpp"

namespace allocbench::front {
namespace {

Results results_of(const std::filesystem::path& log) {
  return reduce(read_history(read_log_lines(log.string()).lines, log.string()));
}

// Whether all cells are ok. Beside a packed log, which somebody keeps, nothing is written.
bool report(const std::filesystem::path& file) {
  const std::optional<std::filesystem::path> log = log_of(file);
  if (!log) {
    throw UsageError(fmt::format("{} is not an event log, and none is beside it. A table is made from events.jsonl.",
                                 file.string()));
  }
  const Results results = results_of(*log);
  if (!is_packed(*log)) write_results(results, log->parent_path().string());
  fmt::print("{}", results_table(results, colours_on_stdout()));
  return all_ok(results);
}

std::vector<std::filesystem::path> files_of(const ReportOptions& options) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : options.paths) {
    for (const std::filesystem::path& file : run_files(path)) files.push_back(file);
  }
  return files;
}

// The page reads results.json, which a plain log makes again. It lists logs that cannot be read, and
// shows the rest.
int write_page(const ReportOptions& options) {
  for (const std::string& path : options.paths) {
    if (path.ends_with(".html")) {
      throw UsageError(fmt::format(
          "{} is not a folder of runs. The name of the page stands behind --out: --html --out {}", path, quoted(path)));
    }
  }
  std::vector<std::string> arguments = {"page"};
  arguments.insert(arguments.end(), options.paths.begin(), options.paths.end());
  for (const std::filesystem::path& file : files_of(options)) {
    if (!is_log(file) || is_packed(file)) continue;
    try {
      write_results(results_of(file), file.parent_path().string());
    } catch (const UsageError& error) {
      arguments.insert(arguments.end(), {"--unreadable", error.what()});
    }
  }
  if (!options.page.empty()) arguments.insert(arguments.end(), {"--out", options.page});
  become_plots(arguments);
}

}  // namespace

int report_command(const ReportOptions& options) {
  if (options.html) return write_page(options);
  bool ok = true, readable = true;  // what can be read is shown, whatever lies beside it
  const std::vector<std::filesystem::path> files = files_of(options);
  for (const std::filesystem::path& file : files) {
    if (files.size() > 1) fmt::print("{}{}\n", file == files.front() ? "" : "\n", file.string());
    try {
      ok = report(file) && ok;
    } catch (const UsageError& error) {
      if (files.size() == 1) throw;
      fmt::print(stderr, "allocbench: {}\n", error.what());
      readable = false;
    }
  }
  return !readable ? exit_usage : ok ? exit_all_ok : exit_some_not_ok;
}

int advise_command(const AdviseOptions& options) {
  std::vector<std::string> arguments = {"advise"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  become_plots(arguments);
}

}  // namespace allocbench::front
