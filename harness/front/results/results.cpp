#include "harness/front/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/json_text.hpp"

namespace allocbench::front {
namespace {

// Each interval has its own stream of resamples, so that adding a cell changes no other.
std::uint64_t bootstrap_seed(const CellHistory& cell, const std::string& phase) {
  return std::stoull(stable_hash(cell.id + "/" + phase), nullptr, 16);
}

PhaseResult& phase_named(std::vector<PhaseResult>& phases, const std::string& name) {
  for (PhaseResult& phase : phases) {
    if (phase.name == name) return phase;
  }
  phases.emplace_back().name = name;
  return phases.back();
}

std::vector<PhaseResult> reduce_phases(const CellHistory& cell, Estimator estimator) {
  std::vector<PhaseResult> phases;
  std::vector<std::vector<double>> operations;
  for (std::size_t index = 0; index < cell.samples.size(); ++index) {
    const protocol::Sample& sample = cell.samples[index];
    for (const Phase& measured : sample.phases) {
      PhaseResult& phase = phase_named(phases, measured.name);
      operations.resize(phases.size());
      operations[static_cast<std::size_t>(&phase - phases.data())].push_back(static_cast<double>(measured.operations));
      if (sample.throttled.value_or(false)) phase.throttled.push_back(phase.seconds.size());
      phase.seconds.push_back(measured.seconds);
    }
  }
  for (std::size_t i = 0; i < phases.size(); ++i) {
    phases[i].centre = estimator(phases[i].seconds);
    phases[i].interval = bootstrap_interval(phases[i].seconds, estimator, bootstrap_seed(cell, phases[i].name));
    phases[i].operations = median(operations[i]);
  }
  return phases;
}

std::vector<CounterResult> reduce_counters(const CellHistory& cell) {
  std::vector<std::pair<std::string, std::vector<double>>> values;
  for (const protocol::Sample& sample : cell.samples) {
    for (const auto& [name, value] : sample.counters) {
      auto place = values.begin();
      while (place != values.end() && place->first != name) ++place;
      if (place == values.end()) place = values.insert(place, {name, {}});
      place->second.push_back(value);
    }
  }
  std::vector<CounterResult> counters;
  counters.reserve(values.size());
  for (const auto& [name, list] : values) {
    counters.push_back(
        {name, median(list), bootstrap_interval(list, estimator_named("median"), bootstrap_seed(cell, name))});
  }
  return counters;
}

std::vector<CountedResult> reduce_counted(const CellHistory& cell) {
  std::vector<CountedResult> reduced;
  // Logs of older programs have zeros where nothing was counted.
  if (!cell.facts.counted || !cell.facts.counted->has_counts()) return reduced;
  for (const auto& [metric, values] : cell.facts.counted->values) {
    reduced.push_back(
        {metric, mean(values), bootstrap_interval(values, mean, bootstrap_seed(cell, metric)), values.size()});
  }
  return reduced;
}

void replace_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path draft = path.string() + ".new";
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written: {}.", path.string(), std::strerror(errno)));
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) throw EnvironmentError(fmt::format("{} cannot be written: {}.", path.string(), error.message()));
}

}  // namespace

std::optional<double> PhaseResult::throughput() const {
  if (operations <= 0 || centre <= 0) return std::nullopt;
  return operations / centre;
}

Results reduce(RunHistory history) {
  Results results;
  results.figure = history.figure;
  results.statistic = history.statistic;
  results.not_measured = history.not_measured();
  const Estimator estimator = estimator_named(history.statistic);
  for (CellHistory& cell : history.cells) {
    if (!cell.end) continue;
    CellResult& result = results.cells.emplace_back();
    result.cell = std::move(cell);
    if (result.status() != Status::ok) continue;
    result.phases = reduce_phases(result.cell, estimator);
    result.counters = reduce_counters(result.cell);
    result.counted = reduce_counted(result.cell);
    for (const protocol::Sample& sample : result.cell.samples) {
      result.throttled = result.throttled || sample.throttled.value_or(false);
    }
  }
  history.cells.clear();
  results.history = std::move(history);
  return results;
}

bool all_ok(const Results& results) {
  return results.not_measured == 0 &&
         std::none_of(results.cells.begin(), results.cells.end(),
                      [](const CellResult& cell) { return counts_as_failure(cell.status()); });
}

void write_results(const Results& results, const std::string& folder) {
  replace_file(std::filesystem::path(folder) / "results.csv", results_csv(results));
  replace_file(std::filesystem::path(folder) / "results.json", results_json(results));
}

}  // namespace allocbench::front
