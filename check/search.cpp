#include "check/search.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "check/filling.hpp"
#include "check/races.hpp"
#include "simt/cpu/history.hpp"
#include "simt/cpu/memory.hpp"
#include "simt/cpu/search/exploration.hpp"
#include "simt/cpu/search/schedule.hpp"
#include "simt/cpu/search/shrink.hpp"

namespace allocbench::check {
namespace {

// A launch that takes more steps than its budget counts as endless. A launch of a few requests needs far fewer steps
// than `least_budget`. The budget grows with the number of requests, because some designs try many times before they
// return null.
constexpr std::uint64_t least_budget = 1 << 18;
constexpr std::uint64_t most_steps_per_request = 1 << 14;
// A longer schedule is not written down. It would take more than half of the longest message that the front end reads,
// and it cannot be shrunk in time. The seed repeats a run without its schedule.
constexpr std::size_t longest_schedule = 8 << 20;
constexpr std::size_t history_steps = 1 << 14;
constexpr std::size_t history_rows = 40;
// This is the time limit of a run in its own process. The step budget cannot end a loop without scheduling points.
constexpr unsigned most_seconds_apart = 5;

constexpr const char* holding_suffix = "+stores";
constexpr const char* ageing_suffix = "+loads";

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

struct NamedStrategy {
  const char* name;
  simt::StrategyKind kind;
  std::uint32_t most;  // largest argument; 0 if the strategy takes none
};
constexpr NamedStrategy named_strategies[] = {
    {"swarm", simt::StrategyKind::swarm, 0},       {"random", simt::StrategyKind::random, 64},
    {"pct", simt::StrategyKind::pct, 64},          {"round_robin", simt::StrategyKind::round_robin, 1024},
    {"lockstep", simt::StrategyKind::lockstep, 0}, {"conflicts", simt::StrategyKind::conflicts, 0},
    {"dfs", simt::StrategyKind::exploring, 4}};

Outcome outcome_of(simt::FaultKind kind) {
  switch (kind) {
    case simt::FaultKind::failed_check:
      return Outcome::failed_check;
    case simt::FaultKind::mask_error:
      return Outcome::mask_error;
    case simt::FaultKind::deadlock:
      return Outcome::deadlock;
    case simt::FaultKind::livelock:
      return Outcome::livelock;
    case simt::FaultKind::budget:
      return Outcome::budget;
    case simt::FaultKind::exception:
      return Outcome::exception;
    case simt::FaultKind::nondeterminism:
      return Outcome::nondeterminism;
    case simt::FaultKind::device_fault:
    case simt::FaultKind::environment:
    case simt::FaultKind::out_of_memory:
      break;
  }
  return Outcome::device_fault;
}

std::uint64_t step_budget(const Model& model) {
  return std::max(least_budget, most_steps_per_request * model.requests_per_launch());
}

// Splits a text into its first line and the rest.
void split_text(const std::string& text, std::string& summary, std::string& detail) {
  const std::size_t end = text.find('\n');
  summary = text.substr(0, end);
  if (end != std::string::npos) detail = text.substr(end + 1);
}

}  // namespace

const char* outcome_word(Outcome outcome) {
  static constexpr const char* words[] = {"ok",     "failed check", "mask error",   "deadlock",       "livelock",
                                          "budget", "exception",    "device fault", "nondeterminism", "race"};
  return words[static_cast<std::size_t>(outcome)];
}

std::optional<Strategy> Strategy::parse(std::string_view text) {
  const bool holds_stores = take_suffix(text, holding_suffix);
  const bool reads_old_values = !holds_stores && take_suffix(text, ageing_suffix);
  const std::size_t slash = text.find('/');
  const std::string_view name = text.substr(0, slash);
  for (const NamedStrategy& named : named_strategies) {
    if (name != named.name) continue;
    if (reads_old_values && named.kind == simt::StrategyKind::exploring) return std::nullopt;
    Strategy strategy{named.kind, 0, holds_stores, reads_old_values};
    if (slash == std::string_view::npos) {
      if (named.kind == simt::StrategyKind::exploring) strategy.argument = 2;
      return strategy;
    }
    const std::string_view number = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), strategy.argument);
    const bool whole = error == std::errc() && end == number.data() + number.size() && !number.empty();
    const bool allowed = strategy.argument >= (named.kind == simt::StrategyKind::exploring ? 0u : 1u);
    if (!whole || !allowed || strategy.argument > named.most) return std::nullopt;
    return strategy;
  }
  return std::nullopt;
}

std::string Strategy::text() const {
  for (const NamedStrategy& named : named_strategies) {
    if (named.kind != kind) continue;
    const bool plain = argument == 0 && kind != simt::StrategyKind::exploring;
    const std::string text = plain ? named.name : fmt::format("{}/{}", named.name, argument);
    return text + (holds_stores ? holding_suffix : reads_old_values ? ageing_suffix : "");
  }
  return "scripted";
}

Search::Search(const Subject& subject, const Model& model)
    : subject_(subject),
      fresh_(subject.measure_fresh_heap(model, step_budget(model))),
      model_(filled(model, fresh_.alone)) {
  simt::device_memory::take_overrun();  // forgets older overruns, so that each run shows only its own
}

Search::~Search() = default;

simt::ExecutorOptions Search::options(const Strategy& strategy, std::uint64_t seed) const {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  options.seed = seed;
  options.strategy = strategy.kind;
  options.hold_stores = strategy.holds_stores;
  options.read_old_values = strategy.reads_old_values;
  options.step_budget = step_budget(model_);
  // If a model has several thread blocks, some blocks wait for their turn, as on a GPU that is full.
  options.resident_blocks = std::max(1u, (model_.blocks + 1) / 2);
  options.device_heap_bytes = std::max<std::size_t>(subject_.device_heap_bytes(model_), 4096);
  if (strategy.kind == simt::StrategyKind::random) options.preemption_interval = strategy.argument;
  if (strategy.kind == simt::StrategyKind::pct) options.pct_depth = strategy.argument;
  if (strategy.kind == simt::StrategyKind::round_robin && strategy.argument != 0) options.slice = strategy.argument;
  return options;
}

Trial Search::run(const simt::ExecutorOptions& options) {
  if (device_ == nullptr) {
    device_ = std::make_unique<simt::Device>(options);
  } else {
    device_->restart(options);
  }
  Trial trial;
  try {
    subject_.run(*device_, model_, fresh_, trial.record);
    if (!trial.record.verdict.empty()) {
      trial.outcome = Outcome::failed_check;
      split_text(trial.record.verdict, trial.summary, trial.detail);
    }
  } catch (const simt::Fault& fault) {
    trial.outcome = outcome_of(fault.kind());
    split_text(fault.what(), trial.summary, trial.detail);
  }
  const std::string overrun = simt::device_memory::take_overrun();
  if (!overrun.empty() && trial.outcome == Outcome::ok) {
    trial.outcome = Outcome::failed_check;
    trial.summary = overrun;
  }
  trial.record.hash = device_->hash();
  // If a run has failed in another way, its races may be consequences, so they are dropped.
  const std::string races = take_races();
  if (!races.empty() && trial.outcome == Outcome::ok) {
    trial.outcome = Outcome::race;
    split_text(races, trial.summary, trial.detail);
  }
  return trial;
}

std::optional<Outcome> Search::run_apart(const simt::ExecutorOptions& options) {
  const pid_t child = fork();
  if (child < 0) throw simt::Fault(simt::FaultKind::environment, "fork failed");
  if (child == 0) {
    const rlimit no_core_file = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core_file);
    alarm(most_seconds_apart);
    _exit(static_cast<int>(run(options).outcome));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return std::nullopt;
  return static_cast<Outcome>(WEXITSTATUS(status));
}

SearchResult Search::explore(const Strategy& strategy, std::uint64_t first, std::uint64_t count, Exploring how) {
  if (strategy.kind == simt::StrategyKind::exploring) return explore_all(strategy, count, how.stop_at_failure);
  SearchResult result;
  for (std::uint64_t seed = first; seed - first < count; ++seed) {
    const simt::ExecutorOptions with_seed = options(strategy, seed);
    ++result.tried;
    if (how.apart && run_apart(with_seed).value_or(Outcome::ok) == Outcome::ok) continue;
    const Trial trial = run(with_seed);
    result.steps += trial.record.steps;
    if (trial.outcome == Outcome::ok) continue;
    ++result.failed;
    if (!result.first) result.first = write_down(with_seed, trial);
    if (how.stop_at_failure) break;
  }
  return result;
}

SearchResult Search::explore_all(const Strategy& strategy, std::uint64_t count, bool stop_at_failure) {
  // The set-up of the allocator does not depend on interleavings, so the exploration begins after it.
  const std::uint32_t launch = run(options({.kind = simt::StrategyKind::round_robin}, 1)).record.first_launch;
  const auto paths = std::make_shared<simt::Exploration>(strategy.argument, launch);
  simt::ExecutorOptions exploring = options(strategy, 1);
  exploring.exploration = paths;
  exploring.record = true;
  SearchResult result;
  while (result.tried < count) {
    const Trial trial = run(exploring);
    ++result.tried;
    result.steps += trial.record.steps;
    if (trial.outcome != Outcome::ok) {
      ++result.failed;
      if (!result.first) {
        simt::ExecutorOptions scripted = options({.kind = simt::StrategyKind::scripted}, exploring.seed);
        scripted.script = std::make_shared<const simt::Schedule>(device_->schedule());
        result.first = write_down(scripted, trial);
      }
      if (stop_at_failure) break;
    }
    if (!paths->advance()) {
      result.exhausted = true;
      break;
    }
  }
  return result;
}

Failure Search::replay(const Strategy& strategy, std::uint64_t seed) {
  const simt::ExecutorOptions with_seed = options(strategy, seed);
  return write_down(with_seed, run(with_seed));
}

Failure Search::replay(const std::string& text) {
  const auto schedule = std::make_shared<const simt::Schedule>(simt::parse_schedule(text));
  simt::ExecutorOptions scripted = options({.kind = simt::StrategyKind::scripted}, schedule->seed);
  scripted.script = schedule;
  return write_down(scripted, run(scripted));
}

Failure Search::shrink(const std::string& text, bool apart, std::uint64_t& runs) {
  const Failure whole = replay(text);
  simt::ExecutorOptions scripted = options({.kind = simt::StrategyKind::scripted}, whole.seed);
  const auto fails_alike = [&](const simt::Schedule& schedule) {
    scripted.script = std::make_shared<const simt::Schedule>(schedule);
    return (apart ? run_apart(scripted) : run(scripted).outcome) == whole.outcome;
  };
  const simt::Shrunk shrunk = simt::shrink(simt::parse_schedule(text), fails_alike);
  runs = shrunk.runs;
  return replay(simt::to_text(shrunk.schedule));
}

// Repeats the run with a record. The repetition must take the same steps. A difference between two runs of a seed (from
// a hashed address or an uninitialised word) would make every finding unrepeatable.
Failure Search::write_down(simt::ExecutorOptions recorded, const Trial& seen) {
  recorded.record = true;
  recorded.history_steps = history_steps;
  const Trial again = run(recorded);
  Failure failure;
  failure.seed = recorded.seed;
  failure.outcome = seen.outcome;
  failure.summary = seen.summary;
  // ThreadSanitizer can miss a race, so the repetition need not report it again.
  const bool repeats = seen.outcome == Outcome::race || seen.outcome == again.outcome;
  if (again.record.hash != seen.record.hash || !repeats) {
    failure.outcome = Outcome::nondeterminism;
    failure.summary = fmt::format("two runs of the same seed differ: first {} ({}), then {} ({})",
                                  outcome_word(seen.outcome), seen.summary, outcome_word(again.outcome), again.summary);
  }
  const simt::Schedule& schedule = device_->schedule();
  if (seen.outcome != Outcome::race) failure.schedule = simt::to_text(schedule);
  if (failure.schedule.size() > longest_schedule) failure.schedule.clear();
  failure.decisions = schedule.decisions.size();
  if (failure.outcome == Outcome::ok) return failure;
  failure.report =
      fmt::format("{}: {}\n{} on model {} ({}), seed {}, {} steps\n", outcome_word(failure.outcome), failure.summary,
                  subject_.traits().name, model_.name, seen.record.strategy, failure.seed, seen.record.steps);
  const bool from_first_run = again.detail.empty() || seen.outcome == Outcome::race;
  const std::string& detail = from_first_run ? seen.detail : again.detail;
  if (!detail.empty()) failure.report += fmt::format("\n{}", detail);
  if (failure.report.back() != '\n') failure.report += '\n';
  if (!again.record.last_calls.empty()) failure.report += fmt::format("\nlast calls:\n{}", again.record.last_calls);
  failure.report += fmt::format("\nlast steps:\n{}", simt::history_text(device_->history(), history_rows));
  return failure;
}

}  // namespace allocbench::check
