#include "harness/front/check/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "harness/front/check/check_plan.hpp"
#include "harness/front/check/crew.hpp"
#include "harness/front/check/finding.hpp"
#include "harness/front/check/shortest.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

constexpr double replay_limit_seconds = 600;

// Sends one command and returns the answer, or nothing if the user interrupted.
std::optional<CheckAnswer> ask(const WorkerProgram& program, const protocol::CheckerCommand& command) {
  CheckCrew crew(1, [] {});
  crew.add({program, command, replay_limit_seconds, 0});
  CheckAnswer answer;
  const bool complete = crew.run([&](const CheckTask&, const CheckAnswer& given) { answer = given; });
  return complete ? std::optional(answer) : std::nullopt;
}

Finding finding_of_seed_string(const CheckOptions& options) {
  const SeedString parts = parse_seed_string(options.replay);
  if (parts.strategy.starts_with("dfs")) {
    throw UsageError("--replay: an exhaustive search has no seeds. Replay the file that the search wrote.");
  }
  CheckOptions chosen = options;
  chosen.allocators = {parts.allocator};
  if (chosen.models.empty()) chosen.models = {parts.model};
  const CheckPlan plan = make_check_plan(chosen);
  const auto model = std::find_if(plan.models.begin(), plan.models.end(),
                                  [&](const protocol::Model& each) { return each.name == parts.model; });
  if (model == plan.models.end()) {
    throw UsageError(fmt::format("--replay: --model does not contain the model \"{}\".", parts.model));
  }
  Finding finding;
  finding.allocator = parts.allocator;
  finding.model = *model;
  finding.strategy = parts.strategy;
  finding.seed = parts.seed;
  finding.races = parts.races;
  return finding;
}

Finding finding_to_replay(const CheckOptions& options) {
  std::error_code error;  // set for names that cannot be file names
  const bool is_file = std::filesystem::exists(options.replay, error);
  return is_file ? read_finding(options.replay) : finding_of_seed_string(options);
}

protocol::Replay question(const Finding& finding, std::uint64_t times) {
  protocol::Replay command;
  command.target = {finding.allocator, finding.model};
  command.times = times;
  if (finding.schedule.empty()) {
    command.strategy = finding.strategy;
    command.seed = finding.seed;
  } else {
    command.schedule = finding.schedule;
  }
  return command;
}

// Repeats the run. Returns the first repetition and the number of repetitions that are equal to it. ThreadSanitizer
// reports a race between the same two places in the code only once per process, so in the race build each repetition
// gets its own process. If nothing is returned, `exit_code` has the reason.
std::optional<protocol::Replayed> repeat(const WorkerProgram& program, const Finding& finding, std::uint64_t times,
                                         int& exit_code) {
  std::optional<protocol::Replayed> all;
  for (std::uint64_t done = 0; done < times;) {
    const std::uint64_t now = finding.races ? 1 : times;
    const auto answer = ask(program, question(finding, now));
    exit_code = answer ? exit_some_not_ok : exit_interrupted;
    if (!answer) return std::nullopt;
    const auto* replayed = std::get_if<protocol::Replayed>(&answer->event);
    if (answer->kind != CheckAnswer::Kind::answered || replayed == nullptr) {
      const auto* unsupported = std::get_if<protocol::Unsupported>(&answer->event);
      show("{} on {}: {}\n", finding.allocator, finding.model.name,
           unsupported != nullptr ? unsupported->reason : answer->loss());
      return std::nullopt;
    }
    if (!all) {
      all = *replayed;
    } else if (replayed->run == all->run) {
      ++all->identical;
    }
    done += now;
  }
  return all;
}

}  // namespace

int replay(const CheckOptions& options) {
  Finding finding = finding_to_replay(options);
  const WorkerProgram program = WorkerFolder(options.workers).require(finding.races ? "tsan" : "check");
  int exit_code = exit_some_not_ok;
  const auto replayed = repeat(program, finding, options.times, exit_code);
  if (!replayed) return exit_code;
  finding.take(replayed->run);
  if (finding.outcome == "ok") {
    show("{} on {}, strategy {}, seed {}: ok\n", finding.allocator, finding.model.name, finding.strategy, finding.seed);
    return exit_all_ok;
  }
  const bool shrinks = options.shrink && !finding.races && !finding.schedule.empty();
  if (options.shrink && finding.schedule.empty())
    show("The schedule was too long to be stored, so it cannot be shrunk.\n\n");
  const std::string shrunk = options.out + "/shrunk";
  if (shrinks) {
    require_writable_folder(shrunk);
    const auto shortest = shortest_run(program, finding, options.first_seed, options.workers_at_once());
    if (!shortest) return exit_interrupted;
    show("shrunk from {} to {}. Tried {}, starting from {}. The shortest schedule has strategy {} and seed {}.\n\n",
         replayed->run.decisions, counted(shortest->decisions, "decision"), counted(shortest->runs, "run"),
         counted(shortest->starts, "failing schedule"), shortest->finding.strategy, shortest->finding.seed);
    finding = shortest->finding;
  }
  show("{}", finding.report);
  if (!finding.schedule.empty()) show("\nschedule: {}\n", finding.schedule);
  show("{} of {} identical\n", replayed->identical, counted(options.times, "repetition"));
  if (shrinks) {
    write_finding(finding, shrunk);
    show("written to {}/{}.json\n", shrunk, finding.file_name());
  }
  return exit_some_not_ok;
}

}  // namespace allocbench::front
