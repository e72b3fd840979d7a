// This file measures the energy of a repetition of a cell with the energy counter of a GPU.
//
// NVML's counter gives the energy since the driver was loaded, in millijoules. The counter moves in steps. So the meter
// makes the repetition again and again for the requested time, and measures from one step of the counter to a later
// one. Two values are subtracted from the measured energy. One is the energy of the idle GPU, whose power is measured
// before and after the work. The other is the energy of preparing each repetition, which a second loop measures. The
// error of the result has two parts. One is the standard deviation of the idle power, times the difference between the
// times of a repetition in the two loops. The other is one step of the counter at each end of each loop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace allocbench::worker {

struct Energy {
  double joules = 0;      // joules of a repetition, without idle power and preparation
  double noise = 0;       // one standard deviation of `joules`
  double idle_watts = 0;  // mean of the idle windows
  std::uint64_t repetitions = 0;
};

// The functions through which the meter reads counter and clock, and waits.
struct EnergySources {
  std::function<std::optional<double>()> joules;  // value of the counter; nothing if there is none
  std::function<double()> now;                    // time in seconds
  std::function<void(double)> sleep;              // wait for some seconds
};

class EnergyMeter {
 public:
  explicit EnergyMeter(EnergySources sources) : sources_(std::move(sources)) {}

  // Measures a repetition. `repeat` makes one repetition and waits for the device. `prepare` makes only the steps that
  // come before the workload. Both are repeated for at least `seconds`. Returns nothing if the device has no counter,
  // or if the meter sees no step of the counter for two seconds, for example because one repetition takes longer.
  std::optional<Energy> measure(double seconds, const std::function<void()>& repeat,
                                const std::function<void()>& prepare);

 private:
  struct Window {
    double joules = 0;
    double seconds = 0;
    double step_joules = 0;  // mean step of the counter
    std::uint64_t repetitions = 0;
  };

  std::optional<Window> window(double seconds, const std::function<void()>& work);

  EnergySources sources_;
};

}  // namespace allocbench::worker
