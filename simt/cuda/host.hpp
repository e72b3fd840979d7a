// Host side of the CUDA back end: devices, streams, events, buffers and launches as RAII objects. Every runtime call is
// checked; a failure is a simt::Fault that names the call.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "simt/buffer.hpp"
#include "simt/common.hpp"
#include "simt/cuda/hold.hpp"
#if defined(__CUDACC__)
#include "simt/cuda/thread.hpp"
#endif

namespace simt {

// Throws the Fault that `status` stands for; sticky errors become device_fault.
void check_cuda(cudaError_t status, const char* call);

inline constexpr bool has_device_cache = true;

// One CUDA device, made current for the constructing thread.
class Device {
 public:
  static int count();
  explicit Device(int ordinal);
  int ordinal() const { return ordinal_; }
  DeviceProperties properties() const;
  // Sets the heap behind `thread.device_heap()` and returns the bytes granted. Only before the first launch.
  std::size_t set_device_heap_bytes(std::size_t bytes);
  // True when `address` lies in the device heap; CUDA does not tell, so it answers true for every address.
  bool in_device_heap(const void*) const { return true; }
  void synchronize();

 private:
  int ordinal_;
};

class Stream {
 public:
  explicit Stream(Device& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t native() const { return stream_; }
  Device& device() const { return device_; }
  void synchronize();
  // Holds back what is enqueued until release(), at most so long (simt/cuda/hold.hpp).
  void hold(double limit_seconds) { hold_.begin(stream_, limit_seconds); }
  void release() { hold_.end(); }
  // After the stream was waited for: why the last hold did not last until release(); empty when it did.
  std::string not_held() const { return hold_.ended_early(); }

 private:
  Device& device_;
  cudaStream_t stream_ = nullptr;
  Hold hold_;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream& stream);
  void synchronize();
  // Seconds between two recorded and completed events.
  static double seconds_between(const Event& start, const Event& stop);

 private:
  cudaEvent_t event_ = nullptr;
};

// A part of the run by name, which Nsight Systems shows and Nsight Compute filters by: an NVTX range of this thread.
class Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// `arguments` point to the kernel object and to values of exactly the types Args of kernel_pointer(), in their order.
void launch_kernel(Stream& stream, LaunchShape shape, KernelPointer kernel, std::span<const void* const> arguments);
KernelAttributes kernel_attributes(KernelPointer kernel);
// Blocks of this kernel that can be resident on the whole device at once.
std::uint32_t max_resident_blocks(Stream& stream, KernelPointer kernel, std::uint32_t threads_per_block,
                                  std::size_t shared_bytes);

#if defined(__CUDACC__)
// Kernels are function objects: `template <class Thread> SIMT_FN void operator()(Thread& thread, Args... args) const`.
template <class Kernel, class... Args>
__global__ void kernel_entry(Kernel kernel, Args... args) {
  Thread thread;
  kernel(thread, args...);
}

template <class Kernel, class... Args>
KernelPointer kernel_pointer() {
  return {reinterpret_cast<const void*>(&kernel_entry<Kernel, Args...>)};
}

template <class Kernel, class... Args>
void launch(Stream& stream, LaunchShape shape, Kernel kernel, Args... args) {
  const std::array<const void*, 1 + sizeof...(Args)> arguments{&kernel, &args...};
  launch_kernel(stream, shape, kernel_pointer<Kernel, Args...>(), arguments);
}

// `Args` are the decayed argument types of the launch.
template <class Kernel, class... Args>
KernelAttributes kernel_attributes() {
  return kernel_attributes(kernel_pointer<Kernel, Args...>());
}
template <class Kernel, class... Args>
std::uint32_t max_resident_blocks(Stream& stream, std::uint32_t threads_per_block, std::size_t shared_bytes) {
  return max_resident_blocks(stream, kernel_pointer<Kernel, Args...>(), threads_per_block, shared_bytes);
}
#endif

}  // namespace simt
