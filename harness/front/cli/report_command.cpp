// `allocbench report PATH` prints the tables of runs, and rewrites their results files from the event logs. The Python
// package plots implements `report PATH --html` and `advise`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/plots_program.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/results/run_files.hpp"
#include "harness/front/results/stored_results.hpp"

namespace allocbench::front {
namespace {

// Rewrites results.csv and results.json if the log has the numbers and is not packed.
void write_results_beside(const std::filesystem::path& log, const Results& results) {
  if (is_log(log) && !is_packed(log) && !results.is_stored) write_results(results, log.parent_path().string());
}

struct Report {
  bool ok = true;         // result of all_ok()
  std::string unwritten;  // why results could not be written, or empty
};

Report report(const std::filesystem::path& file) {
  const std::filesystem::path source = log_of(file).value_or(file);  // the log has everything
  const Results results = read_run(source.string());
  show("{}", results_table(results, colours_on_stdout()));
  try {
    write_results_beside(source, results);
  } catch (const EnvironmentError& error) {
    return {all_ok(results), error.what()};
  }
  return {all_ok(results), ""};
}

std::vector<std::filesystem::path> files_of(const ReportOptions& options) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : options.paths) {
    for (const std::filesystem::path& file : run_files(path)) files.push_back(file);
  }
  return files;
}

// Makes the page, which reads results.json. So each results.json is first rewritten from its log, if the log is not
// packed. The page lists logs that cannot be read, and shows the other runs.
int write_page(const ReportOptions& options) {
  for (const std::string& path : options.paths) {
    if (path.ends_with(".html")) {
      throw UsageError(
          fmt::format("{} is not a folder of runs. To name the page: --html --out {}", path, quoted(path)));
    }
  }
  std::vector<std::string> arguments = {"page"};
  arguments.insert(arguments.end(), options.paths.begin(), options.paths.end());
  for (const std::filesystem::path& file : files_of(options)) {
    if (!is_log(file) || is_packed(file)) continue;
    try {
      write_results_beside(file, read_run(file.string()));
    } catch (const UsageError& error) {
      arguments.insert(arguments.end(), {"--unreadable", error.what()});
    } catch (const EnvironmentError& error) {
      if (!results_beside(file)) throw;
      tell("allocbench: warning: {}\n", error.what());  // the page shows what it can read
    }
  }
  if (!options.page.empty()) arguments.insert(arguments.end(), {"--out", options.page});
  become_plots(arguments);
}

}  // namespace

int report_command(const ReportOptions& options) {
  if (options.html) return write_page(options);
  bool ok = true;
  int code = exit_all_ok;  // readable results are shown even if other runs are unreadable
  const std::vector<std::filesystem::path> files = files_of(options);
  for (const std::filesystem::path& file : files) {
    if (files.size() > 1) show("{}{}\n", file == files.front() ? "" : "\n", file.string());
    try {
      const Report done = report(file);
      ok = done.ok && ok;
      if (done.unwritten.empty()) continue;
      tell("allocbench: {}\n", done.unwritten);
      code = std::max<int>(code, exit_environment);
    } catch (const UsageError& error) {
      if (files.size() == 1) throw;
      tell("allocbench: {}\n", error.what());
      code = std::max<int>(code, exit_usage);
    }
  }
  if (code != exit_all_ok) return code;
  return ok ? exit_all_ok : exit_some_not_ok;
}

int advise_command(const AdviseOptions& options) {
  std::vector<std::string> arguments = {"advise"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  become_plots(arguments);
}

}  // namespace allocbench::front
