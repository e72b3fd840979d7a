// How the CPU executor runs kernels, and what it reports about a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace simt {

class Exploration;
struct Schedule;

enum class ExecutorMode {
  threads,       // blocks spread over OS threads: for speed; not replayable
  deterministic  // one OS thread and a seeded scheduler: the same seed takes the same steps
};

// Which lane runs next. Deterministic mode only; threads mode is always round_robin.
enum class StrategyKind {
  random,       // at a scheduling point, switch to a random runnable lane with probability 1/preemption_interval
  round_robin,  // every lane in turn, `slice` scheduling points each
  pct,          // the lane of the highest random priority, changed at `pct_depth` - 1 random points
  lockstep,     // the lanes of a warp advance together, call by call
  conflicts,    // lanes wait at words until another lane comes to them
  swarm,        // one of the above with parameters, all drawn from the seed, because no single strategy finds every bug
  scripted,     // the decisions of `script`, otherwise the default rule
  exploring     // the next path of `exploration`
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SIMT_RACES
inline constexpr std::size_t default_stack_bytes = std::size_t{256} * 1024;  // sanitizer frames are larger
#else
// Allocators need about 2 KiB, but a throwing lane needs the unwinder's 6–8 KiB and printf more. Pages that no frame
// touches cost address space only, so a large stack costs nothing.
inline constexpr std::size_t default_stack_bytes = std::size_t{64} * 1024;
#endif

struct ExecutorOptions {
  ExecutorMode mode = ExecutorMode::threads;
  std::uint32_t os_threads = 0;  // threads mode; 0 = one per hardware thread
  std::uint64_t seed = 1;        // schedule, virtual SMs and the pattern in fresh device memory
  // Number of blocks that run at once. Other blocks start one by one as these end. 0 = as many as make 64 warps: with
  // more than about 2,000 lanes the stacks exceed the caches, and a switch takes ten times as long.
  std::uint32_t resident_blocks = 0;
  std::uint32_t sm_count = 4;                          // virtual streaming multiprocessors
  std::uint64_t step_budget = std::uint64_t{1} << 36;  // scheduling points per launch; Fault(budget) beyond
  // After the budget, the lanes take turns for this many steps, so that lanes which the strategy starved can end. The
  // launch faults when these steps are used up, too. 0 = a quarter of the budget.
  std::uint64_t grace_steps = 0;
  StrategyKind strategy = StrategyKind::random;
  std::uint32_t preemption_interval = 0;  // random: 1 … 64; 0 = drawn from the seed
  std::uint32_t slice = 32;               // round_robin: scheduling points of a lane
  std::uint32_t pct_depth = 0;            // pct: 1 … 64; 0 = 2, 3 or 4, drawn from the seed
  // Lets loads overtake earlier stores of their lane, as a GPU may (store_buffer.hpp). Deterministic mode only. Without
  // this option the strategy swarm still does so in one of four launches. The race build never does.
  bool hold_stores = false;
  // Lets loads read replaced values if nothing orders them (old_values.hpp). Deterministic mode only. No store is held
  // back then. The race build never does this.
  bool read_old_values = false;
  std::uint64_t expected_steps = 0;          // pct: of a launch; 0 = 4 … 128 for each lane, drawn from the seed
  std::shared_ptr<const Schedule> script;    // scripted; `seed` must be that of the schedule
  std::shared_ptr<Exploration> exploration;  // exploring
  bool record = false;                       // keep the decisions for Device::schedule()
  std::size_t history_steps = 0;             // number of last operations that are kept for Device::history()
  std::uint32_t spin_limit = 64;             // equal reads without effect before a lane is parked
  std::uint32_t grace_spin_limit = 4096;     // the same if every lane seems stuck, so that bounded polls end
  std::size_t stack_bytes = default_stack_bytes;
  bool guard_pages = true;                               // one inaccessible page below each stack
  std::size_t device_heap_bytes = std::size_t{8} << 20;  // CUDA's default
};

// Report of a launch. Steps are scheduling points: atomics, group operations, barriers, spin hints.
struct LaunchReport {
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;  // from one lane to another
  std::uint64_t hash = 0;      // rolling hash over (lane, call site) of every step; 0 outside the deterministic mode
  std::uint32_t os_threads = 0;
  std::uint32_t resident_blocks = 0;
  std::string strategy;
};

}  // namespace simt
