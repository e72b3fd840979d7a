// Host side of the CUDA back end: devices, streams, events, buffers and launches as RAII objects. Every runtime call is
// checked; a failure is a simt::Fault that names the call.
#pragma once

#include <cuda_runtime.h>

#include "simt/buffer.hpp"
#include "simt/common.hpp"
#include "simt/cuda/thread.hpp"

namespace simt {

// Throws the Fault that `status` stands for; sticky errors become device_fault.
void check_cuda(cudaError_t status, const char* call);

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
  // Keeps the stream busy for about `seconds`, so that what the host enqueues meanwhile starts back to back and the
  // host's launch latency falls between no pair of events.
  void hold(double seconds);

 private:
  Device& device_;
  cudaStream_t stream_ = nullptr;
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

// Kernels are function objects: `template <class Thread> SIMT_FN void operator()(Thread& thread, Args... args) const`.
template <class Kernel, class... Args>
__global__ void kernel_entry(Kernel kernel, Args... args) {
  Thread thread;
  kernel(thread, args...);
}

template <class Kernel, class... Args>
void launch(Stream& stream, LaunchShape shape, Kernel kernel, Args... args) {
  if (shape.shared_bytes > 48 * 1024) {
    check_cuda(cudaFuncSetAttribute(kernel_entry<Kernel, Args...>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               "cudaFuncSetAttribute(dynamic shared memory)");
  }
  kernel_entry<<<shape.blocks, shape.threads_per_block, shape.shared_bytes, stream.native()>>>(kernel, args...);
  check_cuda(cudaGetLastError(), "kernel launch");
}

// `Args` are the decayed argument types of the launch.
template <class Kernel, class... Args>
KernelAttributes kernel_attributes() {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel_entry<Kernel, Args...>), "cudaFuncGetAttributes");
  return {attributes.numRegs, attributes.sharedSizeBytes, attributes.localSizeBytes};
}

// Blocks of this kernel that can be resident on the whole device at once.
template <class Kernel, class... Args>
std::uint32_t max_resident_blocks(Stream& stream, std::uint32_t threads_per_block, std::size_t shared_bytes) {
  int per_sm = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel_entry<Kernel, Args...>,
                                                           static_cast<int>(threads_per_block), shared_bytes),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(per_sm) * stream.device().properties().sm_count;
}

}  // namespace simt
