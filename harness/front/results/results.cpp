#include "harness/front/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/front/common/text_file.hpp"
#include "harness/front/statistics/statistics.hpp"
#include "harness/front/statistics/usual_variance.hpp"

namespace allocbench::front {
namespace {

PhaseResult& phase_named(std::vector<PhaseResult>& phases, const std::string& name) {
  for (PhaseResult& phase : phases) {
    if (phase.name == name) return phase;
  }
  phases.emplace_back().name = name;
  return phases.back();
}

// Calls `visit` with each sample and the number of its round.
template <class Visit>
void for_each_sample(const CellHistory& cell, Visit visit) {
  for (std::size_t round = 0; round < cell.rounds.size(); ++round) {
    for (const protocol::Sample& sample : cell.rounds[round]) visit(sample, round);
  }
}

void add_to_round(Rounds& rounds, std::size_t round, double value) {
  if (rounds.size() <= round) rounds.resize(round + 1);
  rounds[round].push_back(value);
}

// Removes the rounds in which the quantity was not measured.
void drop_empty(Rounds& rounds) {
  std::erase_if(rounds, [](const auto& samples) { return samples.empty(); });
}

std::vector<PhaseResult> reduce_phases(const CellHistory& cell, Statistic statistic) {
  std::vector<PhaseResult> phases;
  std::vector<std::vector<double>> operations;
  for_each_sample(cell, [&](const protocol::Sample& sample, std::size_t round) {
    for (const Phase& measured : sample.phases) {
      PhaseResult& phase = phase_named(phases, measured.name);
      operations.resize(phases.size());
      auto& amounts = operations[static_cast<std::size_t>(&phase - phases.data())];
      if (sample.throttled.value_or(false)) phase.throttled.push_back(amounts.size());
      if (phase.not_held.empty()) phase.not_held = measured.not_held;
      amounts.push_back(static_cast<double>(measured.operations));
      add_to_round(phase.rounds, round, measured.seconds);
    }
  });
  for (std::size_t i = 0; i < phases.size(); ++i) {
    drop_empty(phases[i].rounds);
    phases[i].round_count = phases[i].rounds.size();
    phases[i].time = estimate(phases[i].rounds, statistic, clock_step_of(cell.backend, phases[i].name, phases.size()));
    phases[i].operations = median(operations[i]);
  }
  return phases;
}

MeasuredSide side_of(const CellResult& result, const PhaseResult& phase, Statistic statistic) {
  return {values_of(phase.rounds, statistic), clock_step_of(result.cell.backend, phase.name, result.phases.size())};
}

// A phase with few rounds is assumed to have at least the usual spread of this phase in the cells with the same
// allocator and workload.
void judge_few_rounds(Results& results) {
  const auto key_of = [](const CellResult& result, const PhaseResult& phase) {
    return UsualVariance::Key{result.cell.label, result.cell.workload, phase.name};
  };
  UsualVariance usual;
  for (const CellResult& result : results.cells) {
    for (const PhaseResult& phase : result.phases) {
      const std::vector<double> values = values_of(phase.rounds, results.statistic);
      const bool positive = std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
      if (values.size() >= least_rounds_of_numbers && positive) usual.add(key_of(result, phase), log_variance(values));
    }
  }
  for (CellResult& result : results.cells) {
    for (PhaseResult& phase : result.phases) {
      if (!are_few(phase.rounds.size())) continue;
      phase.few_rounds =
          judged_by_few(side_of(result, phase, results.statistic), usual.of(key_of(result, phase)).value_or(0));
    }
  }
}

// Returns the counters of the workload and, if the worker reported them, the state of the device and the host's time.
std::vector<Counter> counters_of(const protocol::Sample& sample) {
  std::vector<Counter> counters = sample.counters;
  if (sample.sm_clock_mhz) counters.emplace_back("sm_clock", static_cast<double>(*sample.sm_clock_mhz));
  if (sample.temperature_c) counters.emplace_back("temperature", static_cast<double>(*sample.temperature_c));
  if (sample.wall_seconds) counters.emplace_back("wall_time", *sample.wall_seconds);
  return counters;
}

std::vector<CounterResult> reduce_counters(const CellHistory& cell) {
  std::vector<std::pair<std::string, Rounds>> values;
  for_each_sample(cell, [&](const protocol::Sample& sample, std::size_t round) {
    for (const auto& [name, value] : counters_of(sample)) {
      auto place = values.begin();
      while (place != values.end() && place->first != name) ++place;
      if (place == values.end()) place = values.insert(place, {name, {}});
      add_to_round(place->second, round, value);
    }
  });
  std::vector<CounterResult> counters;
  counters.reserve(values.size());
  for (auto& [name, list] : values) {
    drop_empty(list);
    counters.push_back({name, estimate(list, Statistic::median, 0)});
  }
  return counters;
}

std::vector<CountedResult> reduce_counted(const CellHistory& cell) {
  std::vector<CountedResult> reduced;
  // Some logs contain only zeros if nothing was counted. These zeros are not results.
  if (!cell.facts.counted || !cell.facts.counted->has_counts()) return reduced;
  for (const auto& [metric, values] : cell.facts.counted->values) {
    reduced.push_back({metric, mean(values), values.size()});
  }
  return reduced;
}

// Gives a cell without an end the numbers of its complete rounds. Returns false if it has none.
bool end_so_far(CellHistory& cell) {
  OpenAttempt& open = cell.open;
  if (!open.verified || open.rounds.empty()) return false;
  cell.end = CellEnd{.stop = stop_so_far};
  cell.ended_attempt = cell.attempts;
  cell.origin = open.origin;
  cell.facts = std::move(open.facts);
  cell.rounds = std::move(open.rounds);
  return true;
}

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

Provenance provenance_of(const std::vector<CellResult>& cells) {
  Provenance all;
  for (const CellResult& result : cells) {
    if (result.cell.end && result.cell.end->left_out) continue;  // nothing was measured
    const Origin& origin = result.cell.origin;
    add_new(all.revisions, origin.sources.measured_revision);
    add_new(all.commits, origin.sources.revision);
    add_new(all.cards, origin.device_uuid);
    add_new(all.drivers, origin.driver_version);
    if (std::ranges::find(all.executors, origin.executor) == all.executors.end()) {
      all.executors.push_back(origin.executor);
    }
    all.dirty = all.dirty || origin.sources.dirty.value_or(false);
  }
  return all;
}

}  // namespace

std::vector<double> PhaseResult::seconds() const {
  std::vector<double> all;
  for (const std::vector<double>& samples : rounds) all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

std::optional<double> PhaseResult::throughput() const {
  if (operations <= 0 || time.centre <= 0) return std::nullopt;
  return operations / time.centre;
}

Results reduce(RunHistory history) {
  Results results;
  results.figure = history.figure;
  results.statistic = statistic_named(history.statistic);
  results.finished = history.finished();
  results.unfinished = history.unfinished();
  results.not_measured = results.unfinished;
  for (CellHistory& cell : history.cells) {
    const bool so_far = !cell.end && end_so_far(cell);
    if (!cell.end) continue;
    CellResult& result = results.cells.emplace_back();
    if (so_far) --results.not_measured;
    result.cell = std::move(cell);
    if (result.status() != Status::ok) continue;
    result.provisional = is_provisional(result.cell.rounds.size(), result.cell.most_rounds);
    result.phases = reduce_phases(result.cell, results.statistic);
    result.counters = reduce_counters(result.cell);
    result.counted = reduce_counted(result.cell);
  }
  judge_few_rounds(results);
  results.provenance = provenance_of(results.cells);
  history.cells.clear();
  results.history = std::move(history);
  return results;
}

std::string cell_name(const std::string& figure, const CellHistory& cell) {
  std::string name = fmt::format("{}/{}", figure, cell.label);
  for (const auto& [axis, value] : cell.axes) name += fmt::format("/{}:{}", axis, to_text(value));
  return name;
}

std::string what_is_missing(const Results& results) {
  std::size_t provisional = 0, not_finished = 0;
  for (const CellResult& result : results.cells) {
    if (result.provisional) {
      ++provisional;
    } else if (!result.has_end()) {
      ++not_finished;
    }
  }
  std::string text = provisional > 0 ? fmt::format(", {} of these provisional", provisional) : "";
  if (not_finished > 0) text += fmt::format(", {} of these not finished", not_finished);
  if (results.not_measured > 0) text += fmt::format(", {} not measured", results.not_measured);
  return text;
}

bool all_ok(const Results& results) {
  return results.unfinished == 0 &&
         std::none_of(results.cells.begin(), results.cells.end(),
                      [](const CellResult& cell) { return counts_as_failure(cell.status()); });
}

void write_results(const Results& results, const std::string& folder) {
  write_text_file((std::filesystem::path(folder) / "results.csv").string(), results_csv(results));
  write_text_file((std::filesystem::path(folder) / "results.json").string(), results_json(results));
}

}  // namespace allocbench::front
