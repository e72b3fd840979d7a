#include "harness/front/check/shortest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/check/crew.hpp"
#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

// Shrinking stops at different lengths for schedules with few and with many preemptions, so the list has strategies for
// both.
constexpr const char* other_strategies[] = {"swarm", "random/4", "random/16", "random/64", "pct/3", "swarm+stores"};
constexpr std::uint64_t seeds_per_strategy = 400;
constexpr std::size_t starts_per_strategy = 2;
constexpr double shrink_limit_seconds = 120;

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

  std::optional<ShortestRun> run() {
    const bool complete = crew_.run([this](const CheckTask& task, const CheckAnswer& answer) { take(task, answer); });
    if (!complete) return std::nullopt;
    if (!best_) throw EnvironmentError(fmt::format("No run could be shrunk: {}", why_));
    best_->starts = starts_.size();
    best_->runs = runs_;
    return best_;
  }

 private:
  protocol::CheckTarget target() const { return {finding_.allocator, finding_.model}; }

  void shrink(const std::string& strategy, std::uint64_t seed, const std::string& schedule) {
    crew_.add({program_, protocol::Shrink{target(), schedule, false}, shrink_limit_seconds, starts_.size()});
    starts_.push_back({strategy, seed});
  }
  // Explores until `wanted` runs have failed like the finding, or the seeds are used up.
  void explore(const std::string& strategy, std::uint64_t first, std::size_t wanted) {
    if (wanted == 0 || first >= end_) return;
    crew_.add({program_,
               protocol::Explore{.target = target(),
                                 .strategy = strategy,
                                 .first_seed = first,
                                 .seeds = end_ - first,
                                 .stop_at_failure = true,
                                 .apart = false},
               shrink_limit_seconds, wanted});
  }

  void take(const CheckTask& task, const CheckAnswer& answer) {
    if (answer.kind != CheckAnswer::Kind::answered) return take_loss(task, answer);
    if (const auto* shrunk = std::get_if<protocol::Shrunk>(&answer.event)) {
      return take_shrunk(starts_[task.cell], *shrunk);
    }
    const auto* explored = std::get_if<protocol::Explored>(&answer.event);
    if (explored == nullptr) return;
    runs_ += explored->tried;
    if (!explored->first) return;
    const protocol::CheckedRun& run = *explored->first;
    const std::string& strategy = std::get<protocol::Explore>(task.command).strategy;
    const bool is_other = strategy != finding_.strategy || run.seed != finding_.seed;
    const bool counts = is_other && run.outcome == finding_.outcome;
    if (counts) shrink(strategy, run.seed, run.schedule);
    explore(strategy, run.seed + 1, task.cell - (counts ? 1 : 0));
  }

  // A schedule may kill the worker. Then the command is repeated with each schedule in its own process, so only the
  // deadly schedule is lost.
  void take_loss(const CheckTask& task, const CheckAnswer& answer) {
    CheckTask again = task;
    bool apart = true;
    std::visit(
        [&](auto& command) {
          if constexpr (requires { command.apart; }) apart = std::exchange(command.apart, true);
        },
        again.command);
    if (answer.kind == CheckAnswer::Kind::died && !apart) return crew_.add_next(again);
    why_ = answer.loss();
  }

  void take_shrunk(const Start& start, const protocol::Shrunk& shrunk) {
    runs_ += shrunk.runs;
    const protocol::CheckedRun& run = shrunk.run;
    if (run.outcome != finding_.outcome || (best_ && run.decisions >= best_->decisions)) return;
    best_ = {finding_, run.decisions, 0, 0};
    best_->finding.take(run);
    best_->finding.strategy = start.strategy;
    best_->finding.seed = start.seed;
  }

  const WorkerProgram& program_;
  const Finding& finding_;
  const std::uint64_t end_;  // end of the seeds
  CheckCrew crew_;
  std::vector<Start> starts_;
  std::optional<ShortestRun> best_;
  std::uint64_t runs_ = 0;
  std::string why_;
};

}  // namespace

std::optional<ShortestRun> shortest_run(const WorkerProgram& program, const Finding& finding, std::uint64_t first_seed,
                                        std::size_t jobs) {
  return Shortening(program, finding, first_seed, jobs).run();
}

}  // namespace allocbench::front
