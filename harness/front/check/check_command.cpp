// `allocbench check` searches allocators for bugs on the CPU executor, and replays a finding.
#include "harness/front/check/check_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "harness/front/check/check_plan.hpp"
#include "harness/front/check/checking.hpp"
#include "harness/front/check/matrix.hpp"
#include "harness/front/check/replay.hpp"
#include "harness/front/common/build_hints.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/text_file.hpp"
#include "protocol/model_json.hpp"

namespace allocbench::front {
namespace {

// --by-strategy compares these strategies of the search. `swarm` draws one of several strategies for each launch, and
// `swarm+stores` also holds stores back in every launch. compare_strategies() adds `swarm` in the race build.
constexpr const char* compared_strategies[] = {"random/1", "random/4", "random/16",   "random/64",
                                               "pct/2",    "pct/3",    "pct/4",       "round_robin/1",
                                               "lockstep", "swarm",    "swarm+stores"};

int search(const CheckPlan& plan, const CheckOptions& options) {
  require_writable_folder(options.out);  // before a search of minutes
  if (!plan.race_seer && options.races) {
    tell(
        "allocbench: no search for races: allocbench-worker-tsan is missing. Build it in the source tree with {}, or "
        "use --no-races\n",
        how_to_build_programs);
  }
  Checking checking(plan, options, options.strategy, true);
  const bool complete = checking.run();
  const CheckMatrix& matrix = checking.matrix();
  if (options.json) {
    show("{}", matrix_json(matrix, options.out));
  } else if (options.verbose) {
    show("{}", matrix_text(matrix, options.out, colours_on_stdout()));
  } else {
    show("{}", short_text(matrix, options.out));
  }
  for (const CheckCell& cell : matrix.cells) {
    if (cell.finding) write_finding(*cell.finding, options.out);
  }
  if (matrix.findings() != 0 && !options.quiet) {
    tell("allocbench: reports and schedules are in {}. To shorten a schedule: --replay FILE.json --shrink{}\n",
         options.out, options.verbose || options.json ? "" : ". All models and commands: --verbose");
  }
  if (!complete) return exit_interrupted;
  if (matrix.findings() != 0) return exit_some_not_ok;
  if (plan.complete) return exit_all_ok;
  tell("allocbench: some checks were left out: see the warnings\n");
  return exit_environment;
}

int compare_strategies(const CheckPlan& plan, const CheckOptions& options) {
  std::vector<std::pair<std::string, CheckMatrix>> by_strategy;
  CheckPlan part = plan;
  part.race_seer.reset();
  for (const char* strategy : compared_strategies) {
    Checking checking(part, options, strategy, false);
    if (!checking.run()) return exit_interrupted;
    by_strategy.emplace_back(strategy, checking.matrix());
  }
  if (plan.race_seer) {
    part.searcher = *plan.race_seer;
    part.allocators = plan.race_allocators;
    CheckOptions race_options = options;
    race_options.seeds = options.race_seeds;
    Checking checking(part, race_options, "swarm", false);
    if (!checking.run()) return exit_interrupted;
    by_strategy.emplace_back("races", checking.matrix());
  }
  show("Failing runs in percent, of {} runs ({} in the race build), on the model with the most failures\n\n{}",
       seeds_per_model(options.seeds, plan), seeds_per_model(options.race_seeds, plan), strategy_table(by_strategy));
  return exit_all_ok;
}

int list(const CheckOptions& options) {
  const protocol::CheckerDescription offer = describe_checker(WorkerFolder(options.workers).require("check"));
  show("allocators\n");
  for (const protocol::SubjectDescription& subject : offer.allocators) {
    if (options.all || !subject.test_only) show("  {}\n", subject.name);
  }
  show("models\n");
  for (const protocol::Model& model : offer.models) show("  {:16}  {}\n", model.name, model.description);
  show("strategies\n  {}\n", offer.strategies);
  return exit_all_ok;
}

int print_model(const CheckOptions& options) {
  CheckOptions chosen = options;
  chosen.models = {options.print_model};
  const CheckPlan plan = make_check_plan(chosen);
  show("{}\n", protocol::to_json(plan.models.front()).dump(2));
  return exit_all_ok;
}

}  // namespace

std::size_t CheckOptions::workers_at_once() const {
  return jobs != 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
}

std::string CheckOptions::command() const {
  std::string text = quoted(program) + " check";
  if (!workers.empty()) text += " --workers " + quoted(workers);
  return text;
}

int check_command(const CheckOptions& options) {
  install_interrupt_handlers();
  if (options.list) return list(options);
  if (!options.print_model.empty()) return print_model(options);
  if (!options.replay.empty()) return replay(options);
  const CheckPlan plan = make_check_plan(options);
  return options.by_strategy ? compare_strategies(plan, options) : search(plan, options);
}

}  // namespace allocbench::front
