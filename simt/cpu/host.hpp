// The host side of the CPU executor has the members of simt/cuda/host.hpp. Launches are synchronous. So a launch throws
// its own faults, and streams and events add no further order.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "simt/buffer.hpp"
#include "simt/common.hpp"
#include "simt/cpu/executor.hpp"
#include "simt/cpu/options.hpp"
#include "simt/kernels.hpp"
#include "simt/stream_pool.hpp"

namespace simt {

class Stream;

// has_device_cache is true if the device has a cache of its own, which a worker can flush before a sample.
inline constexpr bool has_device_cache = false;

// Device is one CPU executor.
class Device {
 public:
  static int count() { return 1; }
  // Makes an executor with default options. The only ordinal is 0.
  explicit Device(int ordinal);
  explicit Device(const ExecutorOptions& options);
  int ordinal() const { return 0; }
  DeviceProperties properties() const;
  // Restarts the device. The old and the new options must select the deterministic mode. Afterwards it does exactly
  // what a new device with these options would do, at lower cost. Buffers survive and keep their addresses. A new
  // device might give such an address to a later buffer, but a restarted one cannot. So release all buffers first.
  void restart(const ExecutorOptions& options);
  // Sets the size of the heap of `thread.device_heap()` and returns the granted bytes. Throws Fault(environment) after
  // the first use of the heap.
  std::size_t set_device_heap_bytes(std::size_t bytes);
  bool in_device_heap(const void* address) const { return executor_->device_heap().contains(address); }
  void synchronize() {}

  Executor& executor() { return *executor_; }
  // Returns the report of the last launch, even if it ended with a fault.
  const LaunchReport& last_launch() const { return last_launch_; }
  // The next four functions cover all launches since construction or restart, including launches with a fault. All but
  // launches() need the deterministic mode. Two runs with the same steps have the same hash.
  std::uint64_t hash() const { return executor_->hash(); }
  std::uint32_t launches() const { return executor_->launches(); }
  const Schedule& schedule() const { return executor_->schedule(); }  // empty without ExecutorOptions::record
  const History& history() const { return executor_->history(); }

 private:
  friend void launch_kernels(std::span<const KernelLaunch> launches);

  std::unique_ptr<Executor> executor_;
  LaunchReport last_launch_;
};

class Event;

class Stream {
 public:
  explicit Stream(Device& device) : device_(device) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Device& device() const { return device_; }
  void synchronize() {}
  // Does nothing, because a recorded event is always in the past.
  void wait(const Event&) {}
  // Does nothing, because launches run in the caller.
  void hold(double) {}
  void release() {}
  std::string not_held() const { return {}; }

 private:
  Device& device_;
};

// Range names a part of the run for NVIDIA's profilers (simt/cuda/host.hpp). Here it does nothing.
class Range {
 public:
  explicit Range(std::string_view) {}
  ~Range() {}
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// Event is a point of wall-clock time.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream&) { time_ = std::chrono::steady_clock::now(); }
  void synchronize() {}
  // Returns the seconds between two recorded events.
  static double seconds_between(const Event& start, const Event& stop) {
    return std::chrono::duration<double>(stop.time_ - start.time_).count();
  }

 private:
  std::chrono::steady_clock::time_point time_;
};

}  // namespace simt
