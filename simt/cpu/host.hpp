// Host side of the CPU executor: the members of simt/cuda/host.hpp. Launches are synchronous: a fault is thrown by the
// launch itself, and streams and events order nothing beyond the program's own order.
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

// Whether memory that kernels use has a cache of the device before it.
inline constexpr bool has_device_cache = false;

// One CPU executor.
class Device {
 public:
  static int count() { return 1; }
  // Default options; the only ordinal is 0.
  explicit Device(int ordinal);
  explicit Device(const ExecutorOptions& options);
  int ordinal() const { return 0; }
  DeviceProperties properties() const;
  // Deterministic mode only: from here on the device does exactly what a new one with these options would, at a small
  // part of the cost. Buffers stay; later ones lie where those of a new device would, so release them before.
  void restart(const ExecutorOptions& options);
  // Sets the heap behind `thread.device_heap()` and returns the bytes granted. Only before the heap is first used.
  std::size_t set_device_heap_bytes(std::size_t bytes);
  bool in_device_heap(const void* address) const { return executor_->device_heap().contains(address); }
  void synchronize() {}

  Executor& executor() { return *executor_; }
  // Report of the last launch, also if it ended with a fault.
  const LaunchReport& last_launch() const { return last_launch_; }
  // The four below cover all launches since construction or restart, those that faulted included; deterministic mode
  // only. The hash is equal where a run repeats another one.
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
  // What is enqueued from here on waits until the event was recorded.
  void wait(const Event&) {}
  // Nothing to hold back: launches run in the caller.
  void hold(double) {}
  void release() {}
  std::string not_held() const { return {}; }

 private:
  Device& device_;
};

// A part of the run by name, for tools of the CUDA back end.
class Range {
 public:
  explicit Range(std::string_view) {}
  ~Range() {}
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// Wall-clock time.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream&) { time_ = std::chrono::steady_clock::now(); }
  void synchronize() {}
  // Seconds between two recorded events.
  static double seconds_between(const Event& start, const Event& stop) {
    return std::chrono::duration<double>(stop.time_ - start.time_).count();
  }

 private:
  std::chrono::steady_clock::time_point time_;
};

}  // namespace simt
