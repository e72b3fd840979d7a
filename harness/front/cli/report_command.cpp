// `allocbench report DIR`: everything but the event log can be made again.
#include <fmt/format.h>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/run/output_folder.hpp"

namespace allocbench::front {

int report_command(const ReportOptions& options) {
  const std::string path = events_path(options.folder);
  const Results results = reduce(read_history(read_log_lines(path).lines, path));
  write_results(results, options.folder);
  fmt::print("{}", results_table(results, colours_on_stdout()));
  return all_ok(results) ? exit_all_ok : exit_some_not_ok;
}

}  // namespace allocbench::front
