// Executor runs launches. It spreads the blocks of each launch over the workers, and keeps workers and their stacks for
// the next launch.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "simt/cpu/device_heap.hpp"
#include "simt/cpu/history.hpp"
#include "simt/cpu/launch.hpp"
#include "simt/cpu/options.hpp"
#include "simt/cpu/search/schedule.hpp"

namespace simt {

class Worker;

class Executor {
 public:
  explicit Executor(const ExecutorOptions& options);
  ~Executor();

  // Restarts the executor. The old and the new options must select the deterministic mode. Then it behaves like a new
  // one, but keeps its mappings of memory. It also keeps workers and stacks, unless stack_bytes or guard_pages differ.
  void restart(const ExecutorOptions& options);

  // Returns the number of blocks of this size that run at once.
  std::uint32_t resident_blocks(std::uint32_t threads_per_block) const;
  // Runs the grids together and returns when every block has ended. `shape` has the blocks of all grids. Throws the
  // first Fault, or the exception of a worker that lacks host resources. The report is valid also after these
  // exceptions. If no launch can have this shape, this function throws and does not change the report.
  void run(LaunchShape shape, std::span<const Grid> grids, LaunchReport& report);

  const ExecutorOptions& options() const { return options_; }
  DeviceHeapMemory& device_heap() { return device_heap_; }
  const DeviceHeapMemory& device_heap() const { return device_heap_; }

  // Returns a hash over all launches since construction or restart, or 0 outside the deterministic mode.
  std::uint64_t hash() const { return hash_; }
  std::uint32_t launches() const { return static_cast<std::uint32_t>(launches_); }
  const Schedule& schedule() const { return schedule_; }
  const History& history() const { return history_; }

 private:
  void begin_run();
  // Returns the number of blocks of the launch that run at once. Throws if no launch can have this shape.
  std::uint32_t blocks_at_once(LaunchShape shape) const;
  // Creates the missing workers. Returns the number of workers that share the resident blocks.
  std::uint32_t provide_workers(std::uint32_t resident);
  // Runs worker 0 on the calling thread, and every other worker on its own thread. Returns the exception of the first
  // worker (by index) that threw one, or null.
  std::exception_ptr run_workers(Launch& launch, std::uint32_t workers, std::uint32_t resident);
  LaunchReport report_of(std::uint32_t workers, std::uint32_t resident) const;

  ExecutorOptions options_;
  DeviceHeapMemory device_heap_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint32_t launches_ = 0;
  std::uint64_t hash_ = 0;
  Schedule schedule_;
  History history_{0};
};

}  // namespace simt
