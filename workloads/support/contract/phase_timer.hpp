// PhaseTimer times the phases of one sample: device work with a pair of events, pure host work with the host's clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "simt/simt.hpp"
#include "workloads/support/contract/stages.hpp"
#include "workloads/support/contract/traits.hpp"

namespace allocbench {

// The stream is held at the start of a timed phase until the host has enqueued the whole phase, but at most this long.
// A launch takes microseconds of host time, and more if the host has just waited. In an idle stream the pair of events
// would include this time. The limit only matters for phases that take longer to enqueue, or that wait for the device
// in a way that simt/ cannot see.
inline constexpr double hold_limit_seconds = 50e-3;

class PhaseTimer {
 public:
  // `stages` may be null. It is informed when a timed phase starts after other work.
  explicit PhaseTimer(simt::Stream& stream, Stages* stages = nullptr) : stream_(stream), stages_(stages) {}

  // Times `work`, which launches on the stream. `operations` is the number of mallocs and frees of the phase, or of
  // other operations that the workload counts. set_operations() corrects the number if it is only known after the run.
  // If a phase occurs again in a sample, its time and operations are added to the earlier ones.
  template <class Work>
  void phase(std::string_view name, std::uint64_t operations, Work&& work) {
    if (stages_ != nullptr) stages_->begin(Stage::timed);
    stream_.hold(hold_limit_seconds);
    const Release at_the_end{stream_};
    const simt::Range range(name);
    start_.record(stream_);
    work();
    stop_.record(stream_);
    stream_.release();
    stop_.synchronize();
    add(name, simt::Event::seconds_between(start_, stop_), operations);
    if (std::string why = stream_.not_held(); !why.empty()) named(name).not_held = std::move(why);
  }

  // Times pure host work by the host's clock. `work` must return only when the work is done.
  template <class Work>
  void host_phase(std::string_view name, std::uint64_t operations, Work&& work) {
    if (stages_ != nullptr) stages_->begin(Stage::timed);
    stream_.synchronize();
    const simt::Range range(name);
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    add(name, seconds.count(), operations);
  }

  // Adds a phase that is the sum of other phases, which stay in the results. Throws if one of them is missing.
  void sum(std::string_view name, std::initializer_list<std::string_view> parts) {
    Phase all{std::string(name), 0, 0, {}};
    for (const std::string_view part : parts) {
      const auto found =
          std::find_if(phases_.begin(), phases_.end(), [&](const Phase& each) { return each.name == part; });
      if (found == phases_.end()) throw std::logic_error("no phase " + std::string(part));
      all.seconds += found->seconds;
      all.operations += found->operations;
      if (!found->not_held.empty()) all.not_held = found->not_held;
    }
    phases_.push_back(all);
  }

  void set_operations(std::string_view phase, std::uint64_t operations) {
    for (Phase& each : phases_) {
      if (each.name == phase) each.operations = operations;
    }
  }
  void counter(std::string_view name, double value) { counters_.emplace_back(name, value); }
  void counter(std::string_view name, std::uint64_t value) { counter(name, static_cast<double>(value)); }

  const std::vector<Phase>& phases() const { return phases_; }
  // Returns the total time of all phases. A phase that is a sum is not counted again.
  double seconds() const { return seconds_; }
  const std::vector<Counter>& counters() const { return counters_; }

 private:
  // Releases the stream even if `work` throws.
  struct Release {
    simt::Stream& stream;
    ~Release() { stream.release(); }
  };

  Phase& named(std::string_view name) {
    for (Phase& each : phases_) {
      if (each.name == name) return each;
    }
    return phases_.emplace_back(Phase{std::string(name), 0, 0, {}});
  }
  void add(std::string_view name, double seconds, std::uint64_t operations) {
    Phase& phase = named(name);
    phase.seconds += seconds;
    seconds_ += seconds;
    phase.operations += operations;
  }

  simt::Stream& stream_;
  Stages* stages_;
  simt::Event start_;
  simt::Event stop_;
  double seconds_ = 0;
  std::vector<Phase> phases_;
  std::vector<Counter> counters_;
};

}  // namespace allocbench
