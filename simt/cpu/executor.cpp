#include "simt/cpu/executor.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "simt/cpu/memory.hpp"
#include "simt/cpu/random.hpp"
#include "simt/cpu/search/exploration.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {
namespace {

constexpr std::uint32_t default_resident_warps = 64;

void check(bool condition, const char* text) {
  if (!condition) throw Fault(FaultKind::environment, text);
}

void check_options(const ExecutorOptions& options) {
  check(options.sm_count != 0, "ExecutorOptions::sm_count is 0");
  check(options.preemption_interval <= 64, "ExecutorOptions::preemption_interval is above 64");
  check(options.spin_limit > SpinWatch::capacity,
        "ExecutorOptions::spin_limit must exceed the words of one spin loop, 8");
  check(options.pct_depth <= 64, "ExecutorOptions::pct_depth is above 64");
  const bool deterministic = options.mode == ExecutorMode::deterministic;
  check(deterministic || (!options.record && options.history_steps == 0),
        "ExecutorOptions::record and history_steps need the deterministic mode");
  check(deterministic || !options.hold_stores, "ExecutorOptions::hold_stores needs the deterministic mode");
  check(deterministic || !options.read_old_values, "ExecutorOptions::read_old_values needs the deterministic mode");
  check(!options.hold_stores || !options.read_old_values,
        "ExecutorOptions::hold_stores and read_old_values exclude each other");
  if (options.strategy == StrategyKind::scripted) {
    check(options.script != nullptr, "StrategyKind::scripted needs ExecutorOptions::script");
    check(options.script->seed == options.seed, "ExecutorOptions::seed is not the seed of the script");
  }
  check(options.strategy != StrategyKind::exploring || options.exploration != nullptr,
        "StrategyKind::exploring needs ExecutorOptions::exploration");
#if SIMT_RACES
  check(deterministic, "the race build runs the deterministic mode only: set ExecutorOptions::mode");
#endif
}

}  // namespace

Executor::Executor(const ExecutorOptions& options) : options_(options), device_heap_(options.device_heap_bytes) {
  check_options(options);
  if (options_.os_threads == 0) options_.os_threads = std::max(1u, std::thread::hardware_concurrency());
  if (options_.mode == ExecutorMode::deterministic) options_.os_threads = 1;
  begin_run();
}

void Executor::begin_run() {
  launches_ = 0;
  hash_ = 0;
  schedule_.seed = options_.seed;
  schedule_.decisions.clear();
  if (history_.capacity() != options_.history_steps) history_ = History(options_.history_steps);
  history_.clear();
  if (options_.strategy == StrategyKind::exploring) options_.exploration->begin_run();
}

void Executor::restart(const ExecutorOptions& options) {
  check(options_.mode == ExecutorMode::deterministic && options.mode == ExecutorMode::deterministic,
        "only a device in deterministic mode can be restarted");
  check_options(options);
  if (options.stack_bytes != options_.stack_bytes || options.guard_pages != options_.guard_pages) workers_.clear();
  device_memory::keep_released();
  device_heap_.reset(options.device_heap_bytes);
  options_ = options;
  options_.os_threads = 1;
  begin_run();
}

Executor::~Executor() = default;

std::uint32_t Executor::resident_blocks(std::uint32_t threads_per_block) const {
  if (options_.resident_blocks != 0) return options_.resident_blocks;
  const std::uint32_t warps = std::max(1u, (threads_per_block + warp_size - 1) / warp_size);
  return std::max(1u, default_resident_warps / warps);
}

std::uint32_t Executor::blocks_at_once(LaunchShape shape) const {
  check(shape.blocks != 0 && shape.threads_per_block != 0, "launch: a grid needs at least one block and one thread");
  check(shape.threads_per_block <= 1024, "launch: a block has at most 1024 threads");
  const std::uint32_t resident = std::min(resident_blocks(shape.threads_per_block), shape.blocks);
#if SIMT_RACES
  check(std::uint64_t{resident} * shape.threads_per_block <= max_tsan_lanes,
        "launch: ThreadSanitizer tells at most 8000 resident lanes apart; lower ExecutorOptions::resident_blocks");
#endif
  return resident;
}

std::uint32_t Executor::provide_workers(std::uint32_t resident) {
  const std::uint32_t workers = std::min(options_.os_threads, resident);
  while (workers_.size() < workers) {
    workers_.push_back(std::make_unique<Worker>(options_, static_cast<std::uint32_t>(workers_.size())));
  }
  return workers;
}

void Executor::run(LaunchShape shape, std::span<const Grid> grids, LaunchReport& report) {
  const std::uint32_t resident = blocks_at_once(shape);
  const std::uint32_t workers = provide_workers(resident);
  Launch launch(options_, shape, grids, device_heap_, {schedule_, history_}, launches_++, workers);
  const std::exception_ptr error = run_workers(launch, workers, resident);
  report = report_of(workers, resident);
  if (options_.mode == ExecutorMode::deterministic) hash_ = mix64(hash_ + report.hash);
  if (error) std::rethrow_exception(error);
  launch.throw_if_abandoned();
}

std::exception_ptr Executor::run_workers(Launch& launch, std::uint32_t workers, std::uint32_t resident) {
  const std::uint32_t warps_per_block = (launch.shape.threads_per_block + warp_size - 1) / warp_size;
  std::vector<std::exception_ptr> errors(workers);
  const auto run_worker = [&](std::uint32_t index, std::uint32_t slots, std::uint32_t first_slot) {
    try {
      workers_[index]->run(launch, slots, first_slot * warps_per_block);
    } catch (...) {
      // This worker ran out of host resources. The other workers must not wait for it.
      errors[index] = std::current_exception();
      launch.abandon(FaultKind::environment, "a worker of the CPU executor failed");
    }
  };
  std::vector<std::thread> threads;
  std::uint32_t first_slot = 0;
  for (std::uint32_t index = workers; index-- > 0;) {
    const std::uint32_t slots = resident / workers + (index < resident % workers ? 1 : 0);
    if (index == 0) {
      run_worker(0, slots, first_slot);
    } else {
      threads.emplace_back(run_worker, index, slots, first_slot);
    }
    first_slot += slots;
  }
  for (std::thread& thread : threads) thread.join();
  const auto first = std::find_if(errors.begin(), errors.end(), [](const auto& error) { return error != nullptr; });
  return first == errors.end() ? nullptr : *first;
}

LaunchReport Executor::report_of(std::uint32_t workers, std::uint32_t resident) const {
  LaunchReport report;
  report.os_threads = workers;
  report.resident_blocks = resident;
  report.strategy = workers_.front()->strategy();
  for (std::uint32_t index = 0; index < workers; ++index) {
    report.steps += workers_[index]->steps();
    report.switches += workers_[index]->switches();
  }
  if (options_.mode == ExecutorMode::deterministic) report.hash = workers_.front()->hash();
  return report;
}

}  // namespace simt
