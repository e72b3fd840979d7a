// TestDevice is the device of a heap. On the CPU, each heap has its own device, and a seed determines the schedule. On
// CUDA, all tests of the process share one device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "simt/simt.hpp"
#if !SIMT_CUDA
#include "simt/cpu/memory.hpp"
#endif

namespace allocbench::contract {

// Pools of at least this size are used sparsely: the CPU back end only reserves address space for their memory, and the
// tests touch few of the pages.
inline constexpr std::size_t large_pool_bytes = std::size_t{1} << 30;

#if SIMT_CUDA

inline constexpr const char* backend = "cuda";
// The size of the device heap of the process, in bytes. A process can set it only once.
inline constexpr std::size_t device_heap_of_process = std::size_t{64} << 20;
inline constexpr bool devices_are_fresh = false;
inline constexpr bool schedules_are_replayed = false;
// Returns whether the schedules differ from those for which the list of expected failures says how each case ends.
inline bool other_schedules() { return false; }
inline std::size_t small_pool() { return std::size_t{64} << 10; }

class TestDevice {
 public:
  explicit TestDevice(std::size_t) {}
  simt::Stream& stream() { return process()->stream; }
  // Returns the granted size, which may exceed the requested size.
  std::size_t device_heap_bytes() const { return process()->device_heap_bytes; }

  // Replaces the context if a fault has broken it, because every call in a broken context fails.
  static void replace_broken_context() {
    if (cudaDeviceSynchronize() == cudaSuccess) return;
    process().reset();
    static_cast<void>(cudaDeviceReset());  // returns the fault
    process().emplace();
  }

 private:
  struct Process {
    simt::Device device{0};
    std::size_t device_heap_bytes = device.set_device_heap_bytes(device_heap_of_process);
    simt::Stream stream{device};
  };
  static std::optional<Process>& process() {
    static std::optional<Process> only(std::in_place);
    return only;
  }
};

#else

inline constexpr const char* backend = "cpu";
inline constexpr bool devices_are_fresh = true;
inline constexpr bool schedules_are_replayed = true;
inline constexpr const char* seed_variable = "ALLOCBENCH_CONTRACT_SEED";
inline constexpr const char* sms_variable = "ALLOCBENCH_CONTRACT_SMS";
inline constexpr const char* pool_variable = "ALLOCBENCH_CONTRACT_POOL";
// Returns whether the schedules differ from those for which the list of expected failures says how each case ends.
inline bool other_schedules() {
  return std::getenv(seed_variable) != nullptr || std::getenv(sms_variable) != nullptr ||
         std::getenv(pool_variable) != nullptr;
}
inline std::uint32_t from_environment(const char* name, std::uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}
// Returns the size of the pools that cases fill repeatedly. An environment variable can make it smaller for builds
// whose steps are slow.
inline std::size_t small_pool() { return std::max(from_environment(pool_variable, 64 << 10), 4096u); }

class TestDevice {
 public:
  explicit TestDevice(std::size_t device_heap_bytes) : options_(options(device_heap_bytes)) {}
  simt::Stream& stream() { return stream_; }
  std::size_t device_heap_bytes() const { return options_.device_heap_bytes; }

 private:
  static simt::ExecutorOptions options(std::size_t device_heap_bytes) {
    simt::device_memory::sparse_from(large_pool_bytes);
    simt::ExecutorOptions result;
    result.mode = simt::ExecutorMode::deterministic;
    // Environment variables can set another seed and another number of multiprocessors.
    result.seed = from_environment(seed_variable, 7);
    result.sm_count = from_environment(sms_variable, result.sm_count);
    // A launch that exceeds this number of steps ends with a fault. So a case in which a malloc does not end fails, and
    // the other cases run.
    result.step_budget = std::uint64_t{100'000'000};
    result.device_heap_bytes = std::max<std::size_t>(device_heap_bytes, 64 << 10);
    return result;
  }

  simt::ExecutorOptions options_;
  simt::Device device_{options_};
  simt::Stream stream_{device_};
};

#endif

inline bool device_is_present() { return simt::Device::count() > 0; }

}  // namespace allocbench::contract
