#include "harness/front/run/stopping.hpp"

#include <algorithm>
#include <map>

#include "harness/front/statistics/rounds.hpp"

namespace allocbench::front {
namespace {

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
    const auto half_width = relative_half_width(rounds, cell);
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

std::optional<double> relative_half_width(const SampledRounds& sampled, const Cell& cell) {
  std::map<std::string, Rounds> phases;
  for (const auto& samples : sampled) {
    std::map<std::string, std::vector<double>> seconds;
    for (const protocol::Sample& sample : samples) {
      for (const Phase& phase : sample.phases) seconds[phase.name].push_back(phase.seconds);
    }
    for (auto& [phase, values] : seconds) phases[phase].push_back(std::move(values));
  }
  double widest = 0;
  for (const auto& [phase, rounds] : phases) {
    const auto half_width =
        estimate(rounds, statistic_named(cell.statistic), clock_step_of(cell.backend, phase, phases.size()))
            .relative_half_width();
    if (!half_width) return std::nullopt;
    widest = std::max(widest, *half_width);
  }
  return widest;
}

}  // namespace allocbench::front
