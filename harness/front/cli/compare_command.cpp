// `allocbench compare A B`: what got slower or faster between two sets of results.
#include <fmt/format.h>

#include <utility>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/compare/comparison.hpp"

namespace allocbench::front {

int compare_command(const CompareOptions& options) {
  const bool measures = !options.reference.empty();
  const std::string& a = measures ? options.reference : options.a;
  const std::string& b = measures ? options.out : options.b;
  const std::vector<Results> runs = read_runs(a);
  if (measures) {
    const int code = measure_reference(options, runs);
    if (code != exit_all_ok) return code;
  }
  Side judged = measures ? side_of(b, read_runs(b), "The same command continues.") : read_side(b);
  const auto comparison =
      compare(side_of(a, runs), std::move(judged), {.margin = options.margin / 100, .ignored = options.ignored});
  if (options.json) {
    show("{}", comparison_json(*comparison));
  } else if (options.markdown) {
    show("{}", comparison_markdown(*comparison, options.all));
  } else {
    show("{}", comparison_text(*comparison, options.all, colours_on_stdout()));
  }
  return options.fail_on == "regression" && comparison->regression() ? exit_regression : exit_all_ok;
}

}  // namespace allocbench::front
