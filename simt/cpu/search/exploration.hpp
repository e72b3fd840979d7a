// Exploration runs every schedule with a bounded number of preemptions (Musuvathi & Qadeer, "Iterative context
// bounding", PLDI 2007).
//
// It is a depth-first search over the choices of whole runs, for models of 2 to 4 lanes with a few dozen steps each. A
// choice is a preemption if it interrupts a lane that could continue. It is also a preemption if it passes the turn of
// a spinning lane to a lane other than the next by rank. The first lane, and the lane after one that waits or ends, can
// be chosen without a preemption. converged() is not explored; it follows the default rule of schedule.hpp.
//
// A run begins when a device with the following options is made or restarted.
//
//   const auto paths = std::make_shared<Exploration>(2);
//   options.strategy = StrategyKind::exploring;  options.exploration = paths;
//   do { device.restart(options); … launch, check … } while (paths->advance());
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

class Exploration {
 public:
  static constexpr std::uint32_t every_launch = ~std::uint32_t{0};
  // Explores one launch of the device, or all of them. Launches that are not explored follow the default rule.
  explicit Exploration(std::uint32_t max_preemptions, std::uint32_t launch = every_launch)
      : max_preemptions_(max_preemptions), launch_(launch) {}

  // Selects another path for the next run. Callers use it after a run. Returns false if all paths with at most
  // `max_preemptions` were taken. Throws Fault(nondeterminism) if a run did not repeat an earlier run up to the choice
  // that differs.
  bool advance();
  // Returns the number of runs begun.
  std::uint64_t runs() const { return runs_; }
  bool exhausted() const { return exhausted_; }
  // Returns the number of preemptions of the present run.
  std::uint32_t preemptions() const { return preemptions_; }

  // The executor calls the next three functions.
  void begin_run();
  bool explores(std::uint32_t launch) const { return launch_ == every_launch || launch_ == launch; }
  // Chooses one of `count` answers; answer 0 is that of the default rule. With `costs_preemption`, every other answer
  // counts as a preemption. `witness` identifies the choice: if the same answers led to another choice in an earlier
  // run, advance() throws.
  std::uint32_t choose(std::uint32_t count, bool costs_preemption, std::uint64_t witness);

 private:
  struct Point {
    std::uint32_t taken;
    std::uint32_t count;
    bool costs;
    std::uint64_t witness;
  };
  const std::uint32_t max_preemptions_;
  const std::uint32_t launch_;
  std::vector<Point> path_;
  std::size_t depth_ = 0;
  std::uint32_t preemptions_ = 0;
  std::uint64_t runs_ = 0;
  bool exhausted_ = false;
  bool diverged_ = false;
};

}  // namespace simt
