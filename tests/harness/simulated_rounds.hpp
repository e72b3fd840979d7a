// This file draws the values of rounds from known distributions. Tests use these rounds to count how often the
// statistics are right. The draws are seeded. Boost's distributions give the same numbers with every standard library.
#pragma once

#include <algorithm>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/student_t_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/front/statistics/rounds.hpp"
#include "harness/front/statistics/statistics.hpp"

namespace allocbench::front {

using Generator = boost::random::mt19937_64;

// Spread draws log times of processes, in units of a standard deviation of the undisturbed process.
struct Spread {
  std::string name;
  std::function<double(Generator&)> draw;
  bool smooth = true;
  bool far_modes = false;  // true if 20 % to less than 50 % of the processes are at least 5 deviations slower
};

inline double normal(Generator& generator) { return boost::random::normal_distribution<double>()(generator); }

// Returns a spread in which a share of the processes is slower by `distance` standard deviations.
inline Spread mixture(double share, double distance) {
  return {"mixture " + std::to_string(share) + " at " + std::to_string(distance),
          [=](Generator& generator) {
            const bool slow = boost::random::uniform_01<double>()(generator) < share;
            return normal(generator) + (slow ? distance : 0);
          },
          false, share >= 0.2 && share < 0.5 && distance >= 5};
}

inline std::vector<Spread> spreads() {
  return {
      {"normal", normal},
      {"heavy tails", [](Generator& generator) { return boost::random::student_t_distribution<double>(3)(generator); }},
      {"skewed", [](Generator& generator) { return boost::random::exponential_distribution<double>()(generator); }},
      {"very skewed", [](Generator& generator) { return std::exp(normal(generator)); }},
      mixture(0.05, 20),
      mixture(0.1, 5),
      mixture(0.2, 3),
      mixture(0.2, 10),
      mixture(0.3, 5),
      mixture(0.4, 10),
      mixture(0.5, 5)};
}

// Clock says how a device's clock reads a duration.
enum class Clock {
  exact,
  nearest,     // the nearest multiple of the step
  difference,  // the difference of two readings, the first of which has a random phase
};

struct Simulation {
  double seconds = 1;        // seconds of the undisturbed process
  double between = 0.015;    // deviation of the log times of processes
  double within = 0.01;      // deviation of the log times of samples in a process
  std::size_t samples = 10;  // samples per round
  Clock clock = Clock::exact;

  double reading(double duration, Generator& generator) const {
    if (clock == Clock::exact) return duration;
    if (clock == Clock::nearest) return device_clock_step * std::round(duration / device_clock_step);
    const double phase = boost::random::uniform_01<double>()(generator);
    return device_clock_step * std::floor(phase + duration / device_clock_step);
  }

  std::vector<double> round(const Spread& spread, Generator& generator) const {
    const double process = between * spread.draw(generator);
    std::vector<double> readings(samples);
    for (double& each : readings) each = reading(seconds * std::exp(process + within * normal(generator)), generator);
    return readings;
  }

  Rounds rounds(const Spread& spread, std::size_t count, Generator& generator) const {
    Rounds list(count);
    for (auto& each : list) each = round(spread, generator);
    return list;
  }

  // Returns the median over processes of a round's median, by an exact clock.
  double truth(const Spread& spread) const {
    Simulation exact = *this;
    exact.clock = Clock::exact;
    Generator generator(1);
    std::vector<double> values(100000);
    for (double& each : values) each = median(exact.round(spread, generator));
    return median(std::move(values));
  }
};

}  // namespace allocbench::front
