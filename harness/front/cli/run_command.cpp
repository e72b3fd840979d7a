// `allocbench F.json` measures one config and prints its table.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/front/cli/known_results.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/plan/plan_text.hpp"

namespace allocbench::front {
namespace {

int report(const RunOptions& options, const Figure& figure, const Ending& ending) {
  const Results results = write_results_of(figure.folder);
  show("{}", results_table(results, colours_on_stdout()));
  if (!options.quiet) tell("allocbench: results are in {}\n", figure.folder);
  return exit_code_of(ending, all_ok(results),
                      fmt::format("{} of {} {} finished.", results.finished, counted(figure.plan.cell_count(), "cell"),
                                  is_or_are(results.finished)),
                      fmt::format("allocbench --config {} --out {}{}", quoted(options.config), quoted(figure.folder),
                                  options_to_continue(options, figure.plan.backend, ending.no_progress)));
}

}  // namespace

int run_command(const RunOptions& options) {
  install_interrupt_handlers();
  const std::string text = read_config_text(options.config);
  const Target target = choose_target(options);
  Config config = checked_config(options, options.config, text, target);
  if (options.print_config) {
    show("{}\n", config.effective->dump(2));
    return exit_all_ok;
  }
  if (config.only_draws) {
    show(
        "{} measures nothing. Its figure comes from the results of other configs:\n  python3 -m plots {} RUN_FOLDER... "
        "--out DIR\n",
        config.name, quoted(options.config));
    return exit_all_ok;
  }
  Plan plan = checked_plan(config, target);
  if (!options.filter.empty()) filter_plan(plan, options.filter);
  require_one_traced_cell(plan, config.trace);
  EarlierResults earlier = earlier_results(options, target, {config.name});
  if (options.dry_run) {
    show("{}", describe_plan(plan, device_heaps(target.program, plan)));
    show("{}", describe_measuring({&plan}, earlier));
    return exit_all_ok;
  }
  const std::string folder = options.out.empty() ? default_folder(config) : options.out;
  require_earlier_folder(options, folder, {});
  const Figure figure = prepare_figure(options, target, std::move(config), std::move(plan), folder);
  if (options.only_failed && figure.history.run == nullptr) {
    throw UsageError(fmt::format("No earlier run in {}; drop --only-failed.", folder));
  }
  const Ending ending = measure(options, target, {figure}, std::move(earlier));
  return report(options, figure, ending);
}

}  // namespace allocbench::front
