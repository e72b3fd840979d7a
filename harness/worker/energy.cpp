#include "harness/worker/energy.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace allocbench::worker {
namespace {

constexpr int idle_windows = 6;  // half of them come before the work
constexpr double idle_window_seconds = 0.2;
constexpr double poll_seconds = 1e-3;
constexpr double longest_wait_seconds = 2;  // for a step of the counter

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

// Measures from one step of the counter to a step at least `seconds` later. The work continues until that step.
std::optional<EnergyMeter::Window> EnergyMeter::window(double seconds, const std::function<void()>& work) {
  std::optional<double> last = sources_.joules();
  if (!last) return std::nullopt;
  Window result;
  std::optional<double> begin_joules;
  double begin = sources_.now();
  std::uint64_t steps = 0;
  for (double waited_since = begin;;) {
    work();
    if (begin_joules) ++result.repetitions;
    const std::optional<double> now_joules = sources_.joules();
    const double now = sources_.now();
    if (!now_joules || now - waited_since > longest_wait_seconds) return std::nullopt;
    if (*now_joules == *last) continue;
    last = now_joules;
    waited_since = now;
    if (!begin_joules) {
      begin_joules = now_joules;
      begin = now;
      continue;
    }
    ++steps;
    if (now - begin < seconds) continue;
    result.joules = *now_joules - *begin_joules;
    result.seconds = now - begin;
    result.step_joules = result.joules / static_cast<double>(steps);
    return result;
  }
}

std::optional<Energy> EnergyMeter::measure(double seconds, const std::function<void()>& repeat,
                                           const std::function<void()>& prepare) {
  std::vector<double> idle_watts;
  const auto watch_idle = [&] {
    for (int i = 0; i < idle_windows / 2; ++i) {
      const std::optional<Window> idle = window(idle_window_seconds, [&] { sources_.sleep(poll_seconds); });
      if (!idle) return false;
      idle_watts.push_back(idle->joules / idle->seconds);
    }
    return true;
  };
  if (!watch_idle()) return std::nullopt;
  const std::optional<Window> work = window(seconds, repeat);
  const std::optional<Window> rest = window(seconds, prepare);
  if (!work || !rest || work->repetitions == 0 || rest->repetitions == 0 || !watch_idle()) return std::nullopt;

  const double idle = mean(idle_watts);
  const double idle_deviation = deviation(idle_watts);
  const auto of_repetition = [&](const Window& each) {
    return (each.joules - idle * each.seconds) / static_cast<double>(each.repetitions);
  };
  // The error of the idle power is the same in both loops. The errors of the steps are independent.
  const auto per_repetition = [](double amount, const Window& each) {
    return amount / static_cast<double>(each.repetitions);
  };
  const double of_idle =
      per_repetition(idle_deviation * work->seconds, *work) - per_repetition(idle_deviation * rest->seconds, *rest);
  const double of_work = per_repetition(work->step_joules, *work);
  const double of_rest = per_repetition(rest->step_joules, *rest);
  return Energy{.joules = of_repetition(*work) - of_repetition(*rest),
                .noise = std::sqrt(of_idle * of_idle + 2 * of_work * of_work + 2 * of_rest * of_rest),
                .idle_watts = idle,
                .repetitions = work->repetitions};
}

}  // namespace allocbench::worker
