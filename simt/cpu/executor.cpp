#include "simt/cpu/executor.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "simt/cpu/random.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {
namespace {

constexpr std::uint32_t default_resident_warps = 64;

void check(bool condition, const char* text) {
  if (!condition) throw Fault(FaultKind::environment, text);
}

}  // namespace

Executor::Executor(const ExecutorOptions& options) : options_(options), device_heap_(options.device_heap_bytes) {
  check(options.sm_count != 0, "ExecutorOptions::sm_count is 0");
  check(options.preemption_interval <= 64, "ExecutorOptions::preemption_interval is above 64");
  check(options.spin_limit > SpinWatch::capacity,
        "ExecutorOptions::spin_limit must exceed the words of one spin loop, 8");
#if SIMT_RACES
  check(options_.mode == ExecutorMode::deterministic,
        "the race build runs the deterministic mode only: set ExecutorOptions::mode");
#endif
  if (options_.os_threads == 0) options_.os_threads = std::max(1u, std::thread::hardware_concurrency());
  if (options_.mode == ExecutorMode::deterministic) options_.os_threads = 1;
}

Executor::~Executor() = default;

std::uint32_t Executor::resident_blocks(std::uint32_t threads_per_block) const {
  if (options_.resident_blocks != 0) return options_.resident_blocks;
  const std::uint32_t warps = std::max(1u, (threads_per_block + warp_size - 1) / warp_size);
  return std::max(1u, default_resident_warps / warps);
}

void Executor::run(LaunchShape shape, KernelCall call, LaunchReport& report) {
  check(shape.blocks != 0 && shape.threads_per_block != 0, "launch: a grid needs at least one block and one thread");
  check(shape.threads_per_block <= 1024, "launch: a block has at most 1024 threads");
  const std::uint32_t resident = std::min(resident_blocks(shape.threads_per_block), shape.blocks);
#if SIMT_RACES
  check(std::uint64_t{resident} * shape.threads_per_block <= max_tsan_lanes,
        "launch: ThreadSanitizer tells at most 8000 resident lanes apart; lower ExecutorOptions::resident_blocks");
#endif
  const std::uint32_t workers = std::min(options_.os_threads, resident);
  while (workers_.size() < workers) {
    workers_.push_back(std::make_unique<Worker>(options_, static_cast<std::uint32_t>(workers_.size())));
  }

  // Launches of one device take different schedules; the whole sequence repeats with the seed.
  Launch launch(options_, shape, call, device_heap_, mix64(options_.seed) + launches_++, workers);
  const std::uint32_t warps_per_block = (shape.threads_per_block + warp_size - 1) / warp_size;
  std::vector<std::thread> threads;
  std::uint32_t first_block_slot = 0;
  std::vector<std::exception_ptr> errors(workers);
  const auto run_worker = [&](std::uint32_t index, std::uint32_t slots, std::uint32_t first_slot) {
    try {
      workers_[index]->run(launch, slots, first_slot * warps_per_block);
    } catch (...) {
      // Out of host resources, in the worker itself. The others must not wait for it.
      errors[index] = std::current_exception();
      launch.abandon(FaultKind::environment, "a worker of the CPU executor failed");
    }
  };
  for (std::uint32_t index = workers; index-- > 0;) {
    const std::uint32_t slots = resident / workers + (index < resident % workers ? 1 : 0);
    if (index == 0) {
      run_worker(0, slots, first_block_slot);
    } else {
      threads.emplace_back(run_worker, index, slots, first_block_slot);
    }
    first_block_slot += slots;
  }
  for (std::thread& thread : threads) thread.join();

  report = {};
  report.os_threads = workers;
  report.resident_blocks = resident;
  report.strategy = workers_.front()->strategy();
  for (std::uint32_t index = 0; index < workers; ++index) {
    report.steps += workers_[index]->steps();
    report.switches += workers_[index]->switches();
  }
  if (options_.mode == ExecutorMode::deterministic) report.hash = workers_.front()->hash();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  launch.throw_if_abandoned();
}

}  // namespace simt
