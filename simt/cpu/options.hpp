// ExecutorOptions select how the CPU executor runs kernels, and LaunchReport describes a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace simt {

class Exploration;
struct Schedule;

enum class ExecutorMode {
  threads,       // blocks run on several OS threads, for speed; a run cannot be replayed
  deterministic  // one OS thread and a seeded scheduler, so that the same seed takes the same steps
};

// StrategyKind selects the rule that decides which lane runs next. It applies in deterministic mode; threads mode
// always uses round_robin. swarm draws random, pct, round_robin or lockstep, but never conflicts.
enum class StrategyKind {
  random,       // switches at a scheduling point to a random runnable lane with probability 1/preemption_interval
  round_robin,  // runs every lane in turn, for `slice` scheduling points each
  pct,          // runs the lane of the highest random priority, which changes at `pct_depth` - 1 random points
  lockstep,     // lets the lanes of a warp advance together, call by call
  conflicts,    // lets lanes wait at words until another lane comes to them
  swarm,        // draws one of the above but `conflicts`, and its parameters, because no single one finds every bug
  scripted,     // takes the decisions of `script`, otherwise follows the default rule
  exploring     // takes the next path of `exploration`
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SIMT_RACES
inline constexpr std::size_t default_stack_bytes = std::size_t{256} * 1024;  // sanitizer frames are larger
#else
// Allocators need about 2 KiB, but a throwing lane needs 6–8 KiB for the unwinder, and printf needs more. Pages that no
// frame touches cost only address space, so a larger stack costs no more memory.
inline constexpr std::size_t default_stack_bytes = std::size_t{64} * 1024;
#endif

struct ExecutorOptions {
  ExecutorMode mode = ExecutorMode::threads;
  std::uint32_t os_threads = 0;  // number of OS threads in threads mode; 0 for one per hardware thread
  std::uint64_t seed = 1;        // seed of the schedule, the virtual SMs and the pattern in fresh device memory
  // Number of blocks that run at once. Other blocks start one by one as these end. The value 0 stands for as many
  // blocks as make 64 warps. With thousands of lanes, the stacks exceed the caches, and a switch takes much longer.
  std::uint32_t resident_blocks = 0;
  std::uint32_t sm_count = 4;  // number of virtual streaming multiprocessors
  // Number of scheduling points after which a launch gets grace_steps.
  std::uint64_t step_budget = std::uint64_t{1} << 36;
  // Number of steps for which the lanes take turns after the budget, so that lanes which the strategy starved can end.
  // If these steps are used up too, the launch ends with Fault(budget), or with Fault(livelock) if no word changed in
  // the grace. The value 0 stands for a quarter of the budget.
  std::uint64_t grace_steps = 0;
  StrategyKind strategy = StrategyKind::random;
  std::uint32_t preemption_interval = 0;  // 1 … 64 for random; 0 draws it from the seed
  std::uint32_t slice = 32;               // scheduling points of a lane for round_robin
  std::uint32_t pct_depth = 0;            // 1 … 64 for pct; 0 draws 2, 3 or 4 from the seed
  // Lets loads overtake earlier stores of their lane, as a GPU may (store_buffer.hpp), in deterministic mode. Without
  // this option, the strategy swarm still does so in one of four launches on average, unless read_old_values is set.
  // The race build never does this.
  bool hold_stores = false;
  // Lets loads read replaced values if the rules of old_values.hpp allow this, in deterministic mode. This option and
  // hold_stores exclude each other. The race build never does this.
  bool read_old_values = false;
  std::uint64_t expected_steps = 0;          // steps of a launch for pct; 0 draws 4 … 128 for each lane from the seed
  std::shared_ptr<const Schedule> script;    // decisions for scripted; `seed` must be that of the schedule
  std::shared_ptr<Exploration> exploration;  // search for exploring
  bool record = false;                       // true keeps the decisions for Device::schedule()
  std::size_t history_steps = 0;             // number of last operations that are kept for Device::history()
  std::uint32_t spin_limit = 64;             // equal reads without effect after which a lane is parked
  std::uint32_t grace_spin_limit = 4096;     // the same number if every lane seems stuck, so that bounded polls end
  std::size_t stack_bytes = default_stack_bytes;
  bool guard_pages = true;                               // true adds one inaccessible page below each stack
  std::size_t device_heap_bytes = std::size_t{8} << 20;  // CUDA's default
};

// LaunchReport describes a launch. Steps are scheduling points: atomics, group operations, barriers, spin hints, calls
// of the device heap, and waits at converged() or for held stores.
struct LaunchReport {
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;  // switches from one lane to another
  std::uint64_t hash = 0;      // rolling hash over (lane, call site) of every step; 0 outside the deterministic mode
  std::uint32_t os_threads = 0;
  std::uint32_t resident_blocks = 0;
  std::string strategy;
};

}  // namespace simt
