// Runs launches: spreads the blocks of a grid over the workers, and keeps workers and their stacks for the next launch.
#pragma once

#include <memory>
#include <vector>

#include "simt/cpu/device_heap.hpp"
#include "simt/cpu/launch.hpp"
#include "simt/cpu/options.hpp"

namespace simt {

class Worker;

class Executor {
 public:
  explicit Executor(const ExecutorOptions& options);
  ~Executor();

  // Blocks of this size that run at once.
  std::uint32_t resident_blocks(std::uint32_t threads_per_block) const;
  // Returns when every block has ended; throws the first Fault. The report is valid in both cases.
  void run(LaunchShape shape, KernelCall call, LaunchReport& report);

  const ExecutorOptions& options() const { return options_; }
  DeviceHeapMemory& device_heap() { return device_heap_; }
  const DeviceHeapMemory& device_heap() const { return device_heap_; }

 private:
  ExecutorOptions options_;
  DeviceHeapMemory device_heap_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint64_t launches_ = 0;
};

}  // namespace simt
