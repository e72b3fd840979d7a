#include "harness/front/run/stopping.hpp"

#include <algorithm>
#include <cmath>
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

// Returns the wall time with resets, copies and checks if the worker reports it, otherwise the device's time.
double wall_seconds(const protocol::Sample& sample) { return sample.wall_seconds.value_or(device_seconds(sample)); }

bool runs_long(const protocol::Sample& sample) { return device_seconds(sample) > long_sample_seconds; }

bool has_long_sample(const SampledRounds& rounds) {
  return std::ranges::any_of(rounds, [](const auto& samples) { return std::ranges::any_of(samples, runs_long); });
}

}  // namespace

std::optional<std::string> reason_to_stop(const Cell& cell, const SampledRounds& rounds, double wall_seconds) {
  if (rounds.size() >= cell.least_rounds) {
    const auto half_width = relative_half_width(rounds, cell);
    if (half_width && *half_width <= cell.precision) return stop::precision;
  }
  if (rounds.size() >= cell.rounds) return stop::rounds;
  if (rounds.size() >= cell.least_long_rounds && has_long_sample(rounds)) {
    return cell.least_long_rounds == least_rounds_of_numbers ? stop::long_samples : stop::exact_long_samples;
  }
  if (wall_seconds >= cell.wall_bound_seconds) return stop::wall;
  return std::nullopt;
}

std::uint64_t samples_to_ask_for(const Cell& cell, const std::vector<protocol::Sample>& samples,
                                 const SampledRounds& earlier) {
  const auto& known = samples.empty() && !earlier.empty() ? earlier.back() : samples;
  if (known.empty()) return 1;
  if (samples.size() >= cell.repetitions || (!samples.empty() && runs_long(samples.back()))) return 0;
  double slowest = 0;
  for (const protocol::Sample& sample : known) slowest = std::max(slowest, wall_seconds(sample));
  double left = sampling_seconds;
  for (const protocol::Sample& sample : samples) left -= wall_seconds(sample);
  if (left <= 0) return 0;
  const std::uint64_t wanted = cell.repetitions - samples.size();
  const double fitting = std::ceil(left / std::max(slowest, 1e-9));
  return fitting < static_cast<double>(wanted) ? static_cast<std::uint64_t>(fitting) : wanted;
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
