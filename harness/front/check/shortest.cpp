#include "harness/front/check/shortest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/check/crew.hpp"
#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// Schedules of different kinds: one with few preemptions and one with many have different local minima.
constexpr const char* other_strategies[] = {"swarm", "random/4", "random/16", "random/64", "pct/3", "swarm+stores"};
constexpr std::uint64_t seeds_per_strategy = 400;
constexpr std::size_t starts_per_strategy = 2;
constexpr double limit_seconds = 120;

struct Start {
  std::string strategy;
  std::uint64_t seed;
};

class Shortening {
 public:
  Shortening(const WorkerProgram& program, const Finding& finding, std::uint64_t first_seed, std::size_t jobs)
      : program_(program), finding_(finding), end_(first_seed + seeds_per_strategy), crew_(jobs, [] {}) {
    shrink(finding.strategy, finding.seed, finding.schedule);
    std::vector<std::string> strategies(std::begin(other_strategies), std::end(other_strategies));
    if (finding.has_seed() && std::count(strategies.begin(), strategies.end(), finding.strategy) == 0) {
      strategies.push_back(finding.strategy);
    }
    for (const std::string& strategy : strategies) explore(strategy, first_seed, starts_per_strategy);
  }

  ShortestRun run() {
    const bool complete = crew_.run([this](const CheckTask& task, const CheckAnswer& answer) { take(task, answer); });
    if (!complete) throw EnvironmentError("interrupted.");
    if (!best_) throw EnvironmentError(fmt::format("no shrunk schedule was returned: {}", why_));
    best_->starts = starts_.size();
    best_->runs = runs_;
    return *best_;
  }

 private:
  void add(Json command, std::size_t start) {
    command["allocator"] = finding_.allocator;
    command["model"] = finding_.model;
    crew_.add({program_, std::move(command), limit_seconds, start});
  }
  void shrink(const std::string& strategy, std::uint64_t seed, const std::string& schedule) {
    add({{"command", "shrink"}, {"schedule", schedule}}, starts_.size());
    starts_.push_back({strategy, seed});
  }
  // Until so many runs have failed like the finding, or the seeds are used up.
  void explore(const std::string& strategy, std::uint64_t first, std::size_t wanted) {
    if (wanted == 0 || first >= end_) return;
    add({{"command", "explore"}, {"strategy", strategy}, {"first_seed", first}, {"seeds", end_ - first}}, wanted);
  }

  void take(const CheckTask& task, const CheckAnswer& answer) {
    if (answer.kind != CheckAnswer::Kind::answered) {
      // Some schedule kills the worker; apart, only that one is lost.
      if (answer.kind == CheckAnswer::Kind::died && !task.command.contains("apart")) {
        CheckTask again = task;
        again.command["apart"] = true;
        crew_.add_next(again);
        return;
      }
      why_ = answer.kind == CheckAnswer::Kind::died ? "the worker " + answer.death : "the runs do not end";
      return;
    }
    if (task.command["command"] == "shrink") return take_shrunk(starts_[task.cell], answer.event);
    runs_ += answer.event.value("tried", std::uint64_t{0});
    if (!answer.event.contains("first")) return;
    const Json& run = answer.event["first"];
    const std::string strategy = task.command["strategy"];
    const std::uint64_t seed = run["seed"];
    const bool is_other = strategy != finding_.strategy || seed != finding_.seed;
    const bool counts = is_other && run["outcome"] == finding_.outcome;
    if (counts) shrink(strategy, seed, run["schedule"]);
    explore(strategy, seed + 1, task.cell - (counts ? 1 : 0));
  }

  void take_shrunk(const Start& start, const Json& event) {
    runs_ += event.value("runs", std::uint64_t{0});
    const Json& run = event["run"];
    const std::size_t decisions = run["decisions"];
    if (run["outcome"] != finding_.outcome || (best_ && decisions >= best_->decisions)) return;
    best_ = {finding_, decisions, 0, 0};
    best_->finding.strategy = start.strategy;
    best_->finding.seed = start.seed;
    best_->finding.summary = run["summary"];
    best_->finding.report = run["report"];
    best_->finding.schedule = run["schedule"];
  }

  const WorkerProgram& program_;
  const Finding& finding_;
  const std::uint64_t end_;  // of the seeds
  CheckCrew crew_;
  std::vector<Start> starts_;
  std::optional<ShortestRun> best_;
  std::uint64_t runs_ = 0;
  std::string why_;
};

}  // namespace

ShortestRun shortest_run(const WorkerProgram& program, const Finding& finding, std::uint64_t first_seed,
                         std::size_t jobs) {
  return Shortening(program, finding, first_seed, jobs).run();
}

}  // namespace allocbench::front
