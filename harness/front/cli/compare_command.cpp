// `allocbench compare A B` lists what became slower or faster between two sets of results.
#include <fmt/format.h>

#include <utility>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/compare/comparison.hpp"
#include "harness/front/compare/comparison_words.hpp"
#include "harness/front/compare/families.hpp"

namespace allocbench::front {

namespace {

void print(const Comparison& comparison, const CompareOptions& options) {
  const std::vector<FamilyRatio> families =
      options.reference.empty() ? std::vector<FamilyRatio>{} : ratios_by_family(comparison);
  if (options.json) {
    show("{}", comparison_json(comparison));
  } else if (options.markdown) {
    show("{}{}", comparison_markdown(comparison, options.all), families_markdown(families));
  } else {
    show("{}{}", comparison_text(comparison, options.all, colours_on_stdout()), families_text(families));
  }
}

// Removes cells that are ok but were not selected, because the other side did not measure them.
Side selected(Side side, const std::set<std::string>& ids) {
  std::erase_if(side.cells,
                [&](const ComparedCell& cell) { return cell.status == Status::ok && !ids.contains(cell.id); });
  return side;
}

std::unique_ptr<Comparison> compared_with_reference(const CompareOptions& options, const ReferenceMeasured& measured,
                                                    const std::vector<Results>& reference,
                                                    const ComparisonOptions& how) {
  Side here =
      side_of(options.out, read_runs(options.out),
              options.minutes ? "Run the same command again with a larger --minutes." : "Run the same command again.");
  return compare(selected(side_of(options.reference, reference), measured.ids), selected(std::move(here), measured.ids),
                 how);
}

}  // namespace

int compare_command(const CompareOptions& options) {
  const ComparisonOptions how = {.margin = options.margin / 100, .ignored = options.ignored};
  std::unique_ptr<Comparison> comparison;
  if (options.reference.empty()) {
    comparison = compare(read_side(options.a), read_side(options.b), how);
  } else {
    const std::vector<Results> reference = read_runs(options.reference);
    const Side kept = side_of(options.reference, reference);
    require_known_keys({&kept}, options.ignored);  // before anything is measured
    const ReferenceMeasured measured = measure_reference(options, reference);
    if (measured.code != exit_all_ok) return measured.code;
    comparison = compared_with_reference(options, measured, reference, how);
  }
  print(*comparison, options);
  if (options.fail_on != "regression") return exit_all_ok;
  if (comparison->regression()) return exit_regression;
  if (options.allow_missing || comparison->missing.empty()) return exit_all_ok;
  tell(
      "allocbench: exit code 4: B lacks {} of A, or has too few rounds there. Finish the run of B, or pass "
      "--allow-missing.\n",
      counted(comparison->missing.size(), "cell"));
  return exit_regression;
}

}  // namespace allocbench::front
