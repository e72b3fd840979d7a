// `allocbench compare A B`: what got slower or faster between two sets of results.
#include <fmt/format.h>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/compare/comparison.hpp"

namespace allocbench::front {

int compare_command(const CompareOptions& options) {
  const auto comparison =
      compare(read_side(options.a), read_side(options.b), {.margin = options.margin / 100, .ignored = options.ignored});
  if (options.json) {
    fmt::print("{}", comparison_json(*comparison));
  } else if (options.markdown) {
    fmt::print("{}", comparison_markdown(*comparison, options.all));
  } else {
    fmt::print("{}", comparison_text(*comparison, options.all, colours_on_stdout()));
  }
  return options.fail_on == "regression" && comparison->regression() ? exit_regression : exit_all_ok;
}

}  // namespace allocbench::front
