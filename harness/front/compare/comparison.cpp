#include "harness/front/compare/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/statistics/usual_variance.hpp"

namespace allocbench::front {
namespace {

constexpr const char* zero_time = "a time of zero";

// The times of a phase differ if the chance of such a difference between equal sides, corrected by Holm for all phases,
// is at most this value.
constexpr double significance = 0.05;

const ComparedPhase* phase_named(const ComparedCell& cell, const std::string& name) {
  for (const ComparedPhase& phase : cell.phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

// A total is the sum of the other phases, so it is not tested. Its test would only make the correction stricter.
bool is_tested(const ComparedCell& cell, const ComparedPhase& phase) {
  return phase.name != "total" || cell.phases.size() == 1;
}

struct Tested {
  CellComparison* cell;
  PhaseComparison* phase;
  LogSide a;
  LogSide b;
};

Estimate estimate_of(const ComparedCell& cell, const ComparedPhase& phase) {
  if (phase.stored) return phase.stored->time;
  return estimate(phase.rounds, cell.statistic, clock_step_of(cell.backend, phase.name, cell.phases.size()));
}

// Returns the phase on the scale of logarithms, from its rounds or its stored interval. Returns nullopt if the
// stored time has no interval, or if a logarithm does not exist.
std::optional<LogSide> log_side_of(const ComparedCell& cell, const ComparedPhase& phase) {
  const double step = clock_step_of(cell.backend, phase.name, cell.phases.size());
  if (phase.stored) {
    const Estimate& time = phase.stored->time;
    if (!time.interval || time.interval->low <= 0) return std::nullopt;
    return log_side(StoredSide{time.centre, *time.interval, phase.stored->rounds, step});
  }
  MeasuredSide side{values_of(phase.rounds, cell.statistic), step};
  if (*std::min_element(side.values.begin(), side.values.end()) <= 0) return std::nullopt;
  return log_side(side);
}

std::string too_few_rounds(const CellComparison& cell, const PhaseComparison& phase) {
  const std::size_t fewest = std::min(phase.rounds_of_a, phase.rounds_of_b);
  if (fewest >= least_compared_rounds) return "";
  const bool is_a = phase.rounds_of_a == fewest;
  return fmt::format("{} {} {} of the {} rounds that a comparison needs", is_a ? "A" : "B",
                     (is_a ? cell.a : cell.b)->provisional ? "is provisional: it has" : "has", fewest,
                     least_compared_rounds);
}

UsualVariance::Key key_of(const Tested& tested) {
  const ComparedCell& cell = *tested.cell->a;
  return {cell.allocator, cell.definition.at("workload"), tested.phase->phase};
}

void judge(PhaseComparison& phase, double margin) {
  const Effect& found = *phase.effect;
  const double most = 1 + margin;
  const double least = 1 / most;
  const bool differs = phase.adjusted_chance <= significance;
  if (differs && found.ratio > most) {
    phase.verdict = Verdict::slower;
  } else if (differs && found.ratio < least) {
    phase.verdict = Verdict::faster;
  } else if (found.interval.low >= least && found.interval.high <= most) {
    phase.verdict = Verdict::same;
  } else {
    phase.reason = "the interval exceeds the margin, but the difference may be chance or smaller than the margin";
  }
}

void add_phases(CellComparison& cell) {
  for (const ComparedPhase& phase : cell.a->phases) {
    const ComparedPhase* other = phase_named(*cell.b, phase.name);
    if (other == nullptr || !is_tested(*cell.a, phase)) continue;
    PhaseComparison& made = cell.phases.emplace_back();
    made.phase = phase.name;
    made.a = estimate_of(*cell.a, phase);
    made.b = estimate_of(*cell.b, *other);
    made.rounds_of_a = phase.round_count();
    made.rounds_of_b = other->round_count();
    made.from_intervals = phase.stored || other->stored;
  }
}

std::vector<Tested> tested_phases(Comparison& comparison) {
  std::vector<Tested> tested;
  for (CellComparison& cell : comparison.cells) {
    for (PhaseComparison& phase : cell.phases) {
      phase.reason = too_few_rounds(cell, phase);
      if (!phase.reason.empty()) continue;
      const auto a = log_side_of(*cell.a, *phase_named(*cell.a, phase.phase));
      const auto b = log_side_of(*cell.b, *phase_named(*cell.b, phase.phase));
      if (a && b) {
        tested.push_back({&cell, &phase, *a, *b});
      } else {
        phase.reason = phase.from_intervals ? "no stored interval, or a time of zero" : zero_time;
      }
    }
  }
  return tested;
}

void test_all(Comparison& comparison) {
  const std::vector<Tested> tested = tested_phases(comparison);
  UsualVariance usual;
  for (const Tested& each : tested) usual.add(key_of(each), log_variance(each.a, each.b));
  std::vector<double> chances;
  chances.reserve(tested.size());
  for (const Tested& each : tested) {
    each.phase->effect = effect_of(each.a, each.b, *usual.of(key_of(each)));
    chances.push_back(each.phase->effect->chance);
  }
  const std::vector<double> adjusted = holm(chances);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tested[i].phase->adjusted_chance = adjusted[i];
    judge(*tested[i].phase, comparison.margin);
  }
}

// Returns whether B lacks a phase of A, or the rounds that a comparison needs and A has. Returns false for a cell that
// is not ok on both sides.
bool is_missing(const CellComparison& cell) {
  if (cell.a->status != Status::ok || cell.b->status != Status::ok) return false;
  return std::any_of(cell.a->phases.begin(), cell.a->phases.end(), [&](const ComparedPhase& phase) {
    const ComparedPhase* other = phase_named(*cell.b, phase.name);
    if (other == nullptr) return true;
    return phase.round_count() >= least_compared_rounds && other->round_count() < least_compared_rounds;
  });
}

void find_missing(Comparison& comparison) {
  for (const CellComparison& cell : comparison.cells) {
    if (is_missing(cell)) comparison.missing.push_back(cell.a);
  }
  for (const ComparedCell* cell : comparison.only_in_a) {
    if (cell->status == Status::ok) comparison.missing.push_back(cell);
  }
}

// A comparison that tests nothing must not look like one that finds no difference.
void require_something(const Comparison& comparison) {
  const bool statuses = std::any_of(comparison.cells.begin(), comparison.cells.end(),
                                    [](const CellComparison& cell) { return cell.status_changed(); });
  if (statuses || comparison.tested() > 0) return;
  std::map<std::string, std::size_t> reasons;
  for (const CellComparison& cell : comparison.cells) {
    for (const PhaseComparison& phase : cell.phases) ++reasons[phase.reason];
  }
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  const std::string why = most == reasons.end() ? "no cell is ok on both sides" : most->first;
  const std::string next = most == reasons.end() ? "Name runs that share such cells"
                           : why == zero_time
                               ? "Name runs with longer times"
                               : fmt::format("Measure at least {} rounds on both sides", least_compared_rounds);
  throw UsageError(fmt::format("Nothing of {} and {} could be compared: {}. {}.", comparison.a.argument,
                               comparison.b.argument, why, next));
}

using Definition = std::map<std::string, std::string>;

Definition without(Definition definition, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) definition.erase(key);
  return definition;
}

std::string part(const ComparedCell& cell, const std::string& key) {
  const auto found = cell.definition.find(key);
  return found == cell.definition.end() ? "absent" : found->second;
}

std::set<std::string> keys_of(const std::vector<const Side*>& sides) {
  std::set<std::string> keys;
  for (const Side* side : sides) {
    for (const ComparedCell& cell : side->cells) {
      for (const auto& [key, value] : cell.definition) keys.insert(key);
    }
  }
  return keys;
}

// Returns a sentence that names the part of the definition that would allow the most pairs if it were ignored. If there
// is no such part, the sentence names the figures of both sides.
std::string likely_cause(const Side& a, const Side& b, const std::vector<std::string>& ignored) {
  const std::set<std::string> keys = keys_of({&a, &b});
  std::string cause =
      fmt::format("A has cells of {}, B of {}.", fmt::join(a.figures, ", "), fmt::join(b.figures, ", "));
  std::size_t most = 0;
  for (const std::string& key : keys) {
    std::vector<std::string> left_out = ignored;
    left_out.push_back(key);
    std::map<Definition, const ComparedCell*> of_a;
    for (const ComparedCell& cell : a.cells) of_a.emplace(without(cell.definition, left_out), &cell);
    std::size_t pairs = 0;
    std::string example;
    for (const ComparedCell& cell : b.cells) {
      const auto found = of_a.find(without(cell.definition, left_out));
      if (found == of_a.end()) continue;
      if (pairs++ == 0) example = fmt::format("{} against {}", part(*found->second, key), part(cell, key));
    }
    if (pairs <= most) continue;
    most = pairs;
    cause = fmt::format("{} pair{} of cells differ{} in {} alone ({}). To compare them, use --ignore {}", pairs,
                        pairs == 1 ? "" : "s", pairs == 1 ? "s" : "", key, example, quoted(key));
  }
  return cause;
}

std::map<Definition, const ComparedCell*> by_definition(const Side& side, const std::vector<std::string>& ignored) {
  std::map<Definition, const ComparedCell*> cells;
  for (const ComparedCell& cell : side.cells) {
    const auto [place, added] = cells.emplace(without(cell.definition, ignored), &cell);
    if (added) continue;
    throw UsageError(fmt::format("With --ignore {}, {} and {} of {} become the same cell. Ignore fewer keys.",
                                 fmt::join(ignored, " --ignore "), place->second->name, cell.name, side.argument));
  }
  return cells;
}

}  // namespace

std::string_view word(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> words = {"slower", "faster", "same", "unsure"};
  return words[static_cast<std::size_t>(verdict)];
}

std::size_t Comparison::count(Verdict verdict) const {
  std::size_t sum = 0;
  for (const CellComparison& cell : cells) {
    sum +=
        static_cast<std::size_t>(std::count_if(cell.phases.begin(), cell.phases.end(),
                                               [&](const PhaseComparison& phase) { return phase.verdict == verdict; }));
  }
  return sum;
}

std::size_t Comparison::tested() const {
  std::size_t sum = 0;
  for (const CellComparison& cell : cells) {
    sum += static_cast<std::size_t>(std::count_if(
        cell.phases.begin(), cell.phases.end(), [](const PhaseComparison& phase) { return phase.effect.has_value(); }));
  }
  return sum;
}

std::size_t Comparison::from_intervals() const {
  std::size_t sum = 0;
  for (const CellComparison& cell : cells) {
    sum += static_cast<std::size_t>(
        std::count_if(cell.phases.begin(), cell.phases.end(),
                      [](const PhaseComparison& phase) { return phase.effect && phase.from_intervals; }));
  }
  return sum;
}

std::size_t Comparison::worse_statuses() const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const CellComparison& cell) { return cell.worse_status(); }));
}

void require_known_keys(const std::vector<const Side*>& sides, const std::vector<std::string>& ignored) {
  std::set<std::string> keys = keys_of(sides);
  keys.insert("aged_rounds");  // only aged cells have this key
  for (const std::string& key : ignored) {
    if (keys.contains(key)) continue;
    // A parameter may also be given without its prefix, so that `threads` finds workload/threads.
    std::string nearest = nearest_name(key, {keys.begin(), keys.end()});
    for (const std::string& known : keys) {
      if (nearest.empty() && !nearest_name(key, {known.substr(known.find('/') + 1)}).empty()) nearest = known;
    }
    throw UsageError(fmt::format("--ignore: unknown key \"{}\".{} Keys of these runs: {}.", key,
                                 nearest.empty() ? "" : fmt::format(" Did you mean \"{}\"?", nearest),
                                 fmt::join(keys, ", ")));
  }
}

std::unique_ptr<Comparison> compare(Side a, Side b, const ComparisonOptions& options) {
  auto comparison = std::make_unique<Comparison>();
  comparison->a = std::move(a);
  comparison->b = std::move(b);
  comparison->margin = options.margin;
  require_known_keys({&comparison->a, &comparison->b}, options.ignored);
  by_definition(comparison->a, options.ignored);
  auto in_b = by_definition(comparison->b, options.ignored);
  std::set<const ComparedCell*> paired;
  for (const ComparedCell& cell : comparison->a.cells) {
    const auto found = in_b.find(without(cell.definition, options.ignored));
    if (found == in_b.end()) {
      comparison->only_in_a.push_back(&cell);
      continue;
    }
    CellComparison& made = comparison->cells.emplace_back(CellComparison{&cell, found->second, {}});
    if (!made.status_changed()) add_phases(made);
    paired.insert(found->second);
  }
  for (const ComparedCell& cell : comparison->b.cells) {
    if (!paired.contains(&cell)) comparison->only_in_b.push_back(&cell);
  }
  if (comparison->cells.empty()) {
    throw UsageError(fmt::format("{} and {} have no cell in common. {}", comparison->a.argument, comparison->b.argument,
                                 likely_cause(comparison->a, comparison->b, options.ignored)));
  }
  test_all(*comparison);
  find_missing(*comparison);
  require_something(*comparison);
  return comparison;
}

}  // namespace allocbench::front
