// Worker is the part of the executor that runs on one OS thread. It runs its resident blocks, with one fiber per lane.
//
// A lane runs until a scheduling point. There the strategy selects the next lane, and the worker switches directly to
// it. The worker's own stack (the root) only starts blocks, wakes parked lanes if nothing else can run, and ends an
// abandoned launch.
//
// A fault ends a launch as on a GPU: the faulting lane switches to the root, no lane of the worker runs again, and the
// stacks are dropped without unwinding. Other workers find the fault at their next check. An exception through the
// lanes would end the process at the first noexcept function, such as any destructor. Device code owns nothing that a
// destructor must free. No frame of the executor may own heap memory when the lane leaves, because no destructor runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simt/cpu/lane.hpp"
#include "simt/cpu/launch.hpp"
#include "simt/cpu/strategy.hpp"

namespace simt {

class Worker {
 public:
  Worker(const ExecutorOptions& options, std::uint32_t index);

  // Runs blocks of the launch, `resident` at a time, until none is left. The worker's OS thread calls run().
  void run(Launch& launch, std::uint32_t resident, std::uint32_t first_warp_slot);

  std::uint64_t steps() const { return steps_; }
  std::uint64_t switches() const { return switches_; }
  std::uint64_t hash() const { return hash_; }
  std::string strategy() const { return strategy_->description(); }

 private:
  friend struct Lane;

  void start_block(Block& block, std::uint32_t index);
  static FiberContext& lane_main(void* lane);
  FiberContext& exit(Lane& lane);
  void drop_lanes();

  void step(Lane& lane, CallSite site, Operation operation, Reason reason);
  void count_step(Lane& lane, CallSite site, Operation operation);
  void refill(Lane& lane);
  std::uint64_t refill_in_grace(const Lane& lane);
  void reschedule(Lane& lane, Reason reason);
  void block_lane(Lane& lane, LaneState state);
  void make_runnable(Lane& lane);
  void remove_from_run_set(Lane& lane);
  void check_block_deadlock(const Block& block);
  // Records the fault. Afterwards the lane must leave.
  void fail(const Lane& lane, FaultKind kind, const std::string& text);
  // Leaves a lane of an abandoned launch forever.
  [[noreturn]] void leave(Lane& lane);

  void collective(Lane& lane);
  void diagnose(const Lane& lane);
  bool complete(const Lane& lane);
  void converge(Lane& lane);
  void form_group(Lane& lane);
  void block_barrier(Lane& lane);
  void release_barrier(Block& block);
  // Unites the views of lanes that a meeting orders (old_values.hpp).
  void unite_views(const Warp& warp, LaneMask lanes);
  void unite_views_at_barrier(const Block& block);
  // Completes the meetings in which an exited lane of the warp was the only missing one.
  void recheck_meetings(Warp& warp);

  void park(Lane& lane);
  void wake(Lane& lane);
  void wake_watchers(const void* address);
  bool wake_changed();
  // Makes all held stores visible. Returns false if no lane held a store back.
  bool show_all_stores();
  void resolve_stall();
  void report_stall();

  const ExecutorOptions& options_;
  const std::uint32_t index_;
  const bool deterministic_;
  StackPool stacks_;
  std::vector<Block> slots_;

  Launch* launch_ = nullptr;
  FiberSwitch* fibers_ = nullptr;
  FiberContext root_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<Lane*> runnable_;
  std::vector<Lane*> parked_;
  AccessTracker tracker_;
  OldValues old_values_;
  std::uint64_t steps_ = 0;
  std::uint64_t steps_granted_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t hash_ = 0;
  std::uint32_t live_ = 0;
  bool grace_used_ = false;  // true after the grace for bounded polls was used (resolve_stall())
  bool in_grace_ = false;    // true beyond the step budget
  bool abandoning_ = false;
};

}  // namespace simt
