#include "harness/front/run/stopping.hpp"

#include <algorithm>
#include <map>

#include "harness/front/results/statistics.hpp"

namespace allocbench::front {
namespace {

constexpr std::uint64_t seed_of_resamples = 1;

double device_seconds(const protocol::Sample& sample) {
  double sum = 0;
  for (const Phase& phase : sample.phases) {
    if (phase.name == "total") return phase.seconds;
    sum += phase.seconds;
  }
  return sum;
}

bool runs_long(const protocol::Sample& sample) { return device_seconds(sample) > long_sample_seconds; }

bool has_long_sample(const SampledRounds& rounds) {
  return std::any_of(rounds.begin(), rounds.end(),
                     [](const auto& samples) { return std::any_of(samples.begin(), samples.end(), runs_long); });
}

}  // namespace

std::optional<std::string> reason_to_stop(const Cell& cell, const SampledRounds& rounds, double wall_seconds) {
  if (rounds.size() >= cell.least_rounds) {
    const auto half_width = relative_half_width(rounds, cell.statistic);
    if (half_width && *half_width <= cell.precision) return stop::precision;
  }
  if (rounds.size() >= cell.rounds) return stop::rounds;
  if (rounds.size() >= rounds_of_long_samples && has_long_sample(rounds)) return stop::long_samples;
  if (wall_seconds >= cell.wall_bound_seconds) return stop::wall;
  return std::nullopt;
}

bool wants_sample(const Cell& cell, const std::vector<protocol::Sample>& samples) {
  if (samples.empty()) return true;
  if (samples.size() >= cell.repetitions || runs_long(samples.back())) return false;
  double wall_seconds = 0;  // with resets, copies and checks, where the worker tells
  for (const protocol::Sample& sample : samples) wall_seconds += sample.wall_seconds.value_or(device_seconds(sample));
  return wall_seconds < long_sample_seconds;
}

std::optional<double> relative_half_width(const SampledRounds& rounds, const std::string& statistic) {
  std::map<std::string, std::vector<double>> by_phase;  // one value per round
  const Estimator estimator = estimator_named(statistic);
  for (const auto& samples : rounds) {
    std::map<std::string, std::vector<double>> seconds;
    for (const protocol::Sample& sample : samples) {
      for (const Phase& phase : sample.phases) seconds[phase.name].push_back(phase.seconds);
    }
    for (const auto& [phase, values] : seconds) by_phase[phase].push_back(estimator(values));
  }
  double widest = 0;
  for (const auto& [phase, values] : by_phase) {
    const auto interval = bootstrap_interval(values, estimator_named("median"), seed_of_resamples);
    const double centre = median(values);
    if (!interval || centre <= 0) return std::nullopt;
    widest = std::max(widest, (interval->high - interval->low) / 2 / centre);
  }
  return widest;
}

}  // namespace allocbench::front
