// `allocbench report DIR`: everything but the event log can be made again.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/front/command_line.hpp"
#include "harness/front/errors.hpp"
#include "harness/front/event_log.hpp"
#include "harness/front/output_folder.hpp"
#include "harness/front/results.hpp"

namespace allocbench::front {

int report_command(const ReportOptions& options) {
  const std::string path = events_path(options.folder);
  const Results results = reduce(read_history(read_log_lines(path).lines, path));
  write_results(results, options.folder);
  fmt::print("{}", results_table(results, colours_on_stdout()));
  const bool failed = std::any_of(results.cells.begin(), results.cells.end(),
                                  [](const CellResult& cell) { return counts_as_failure(cell.status()); });
  return failed || results.unfinished > 0 ? exit_some_not_ok : exit_all_ok;
}

}  // namespace allocbench::front
