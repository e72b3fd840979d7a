// Launch holds the data that the workers of a launch share: the queue of blocks, the step budget, the first fault, and
// the agreement that no lane can continue.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "simt/common.hpp"
#include "simt/cpu/options.hpp"
#include "simt/cpu/random.hpp"

namespace simt {

class DeviceHeapMemory;
class History;
struct Lane;
struct Schedule;

// KernelCall is the type-erased kernel with its arguments. `invoke(lane, closure)` runs one thread of it.
struct KernelCall {
  void (*invoke)(Lane&, const void*) = nullptr;
  const void* closure = nullptr;
};

// Grid is a set of blocks that run one kernel. Grids that run together form one launch. Their blocks have one shape and
// start in a seeded order, which keeps the order within each grid.
struct Grid {
  std::uint32_t blocks = 1;
  KernelCall call;
};

// RunRecord holds the data that the launches of a device share between two restarts.
struct RunRecord {
  Schedule& schedule;
  History& history;
};

// StallAgreement decides whether the launch is stuck. A worker is stuck if all of its lanes wait. One check by one
// worker is not enough, because another worker may write a watched word before it gets stuck. So the verdict needs a
// round in which every worker was stuck and then checked its words again.
class StallAgreement {
 public:
  explicit StallAgreement(std::uint32_t workers) : confirmed_(workers, 0), working_(workers) {}

  void enter();   // this worker is stuck
  void leave();   // this worker is not stuck any more
  void finish();  // this worker has no blocks left
  // Returns a round number if all workers that still have blocks are stuck, otherwise 0.
  std::uint64_t round() const;
  // Confirms that a second check after round() found no change. Returns true to the last worker that confirms the
  // round.
  bool confirm(std::uint32_t worker, std::uint64_t round);

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> confirmed_;  // last confirmed round by worker
  std::uint32_t working_;
  std::uint32_t stuck_ = 0;
  std::uint64_t round_ = 1;
};

class Launch {
 public:
  // `launch_shape` has the blocks of all grids.
  Launch(const ExecutorOptions& launch_options, LaunchShape launch_shape, std::span<const Grid> launch_grids,
         DeviceHeapMemory& heap, RunRecord run_record, std::uint32_t launch_index, std::uint32_t workers)
      : options(launch_options),
        shape(launch_shape),
        grids(launch_grids),
        device_heap(heap),
        record(run_record),
        index(launch_index),
        // The launches of a device have different schedules. The same seed repeats the whole sequence.
        seed(mix64(launch_options.seed) + launch_index),
        stalls(workers),
        budget_left_(launch_options.step_budget),
        grace_left_(grace_steps()) {
    if (grids.size() > 1) draw_order();
  }

  // Returns the next block to start, or nothing if all have been started.
  std::optional<std::uint32_t> take_block();
  std::uint32_t blocks_not_started() const;
  // Place is the grid of a block of the launch, and the block's number in the grid.
  struct Place {
    const Grid* grid;
    std::uint32_t block;
  };
  Place place_of(std::uint32_t block) const { return order_.empty() ? Place{&grids.front(), block} : order_[block]; }
  // Takes up to `steps` from the launch's budget, and returns how many it took. take_grace_steps() takes them from the
  // grace, which follows the budget.
  std::uint64_t take_steps(std::uint64_t steps) { return take(budget_left_, steps); }
  std::uint64_t take_grace_steps(std::uint64_t steps) { return take(grace_left_, steps); }
  std::uint64_t grace_steps() const { return options.grace_steps != 0 ? options.grace_steps : options.step_budget / 4; }
  void word_changed_in_grace() { word_changed_in_grace_.store(true, std::memory_order_relaxed); }
  // Returns the kind of the fault of a launch that has no steps left, and writes the message to `text`. The kind is
  // budget, or livelock if no word changed in the grace.
  FaultKind out_of_steps(std::string& text) const;
  // Records a fault. Only the first one is kept, because the others may be its consequences.
  void abandon(FaultKind kind, const std::string& text);
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
  void throw_if_abandoned() const;

  const ExecutorOptions& options;
  const LaunchShape shape;
  const std::span<const Grid> grids;
  DeviceHeapMemory& device_heap;
  const RunRecord record;
  const std::uint32_t index;  // number of the launch on the device
  const std::uint64_t seed;
  StallAgreement stalls;

 private:
  void draw_order();
  static std::uint64_t take(std::atomic<std::uint64_t>& left, std::uint64_t steps);

  std::vector<Place> order_;  // order of the blocks of several grids
  std::atomic<std::uint32_t> next_block_{0};
  std::atomic<std::uint64_t> budget_left_;
  std::atomic<std::uint64_t> grace_left_;
  std::atomic<bool> word_changed_in_grace_{false};
  std::atomic<bool> abandoned_{false};
  std::mutex fault_mutex_;
  std::optional<Fault> fault_;
};

}  // namespace simt
