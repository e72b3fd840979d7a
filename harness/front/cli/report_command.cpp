// `allocbench report DIR`: everything but the event log can be made again. `report DIR --html` and `advise` are the
// work of the Python package.
#include <fmt/format.h>

#include <filesystem>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/plots_program.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/run/output_folder.hpp"

namespace allocbench::front {

namespace {

int write_page(const ReportOptions& options) {
  // The page reads results.csv and results.json. A folder of several runs, or of packed ones, has them already.
  if (const std::string path = events_path(options.folder); std::filesystem::exists(path)) {
    write_results(reduce(read_history(read_log_lines(path).lines, path)), options.folder);
  }
  std::vector<std::string> arguments = {"page", options.folder};
  if (!options.page.empty()) arguments.insert(arguments.end(), {"--out", options.page});
  become_plots(arguments);
}

}  // namespace

int report_command(const ReportOptions& options) {
  if (options.html) return write_page(options);
  const std::string path = events_path(options.folder);
  const Results results = reduce(read_history(read_log_lines(path).lines, path));
  write_results(results, options.folder);
  fmt::print("{}", results_table(results, colours_on_stdout()));
  return all_ok(results) ? exit_all_ok : exit_some_not_ok;
}

int advise_command(const AdviseOptions& options) {
  std::vector<std::string> arguments = {"advise"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  become_plots(arguments);
}

}  // namespace allocbench::front
