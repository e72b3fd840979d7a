// With StreamPool, host code allocates and frees device memory in the order of a stream. This is the baseline for
// programs that need no malloc on the device. Each back end implements the pool.
#pragma once

#include <cstddef>

namespace simt {

class Device;
class Stream;

class StreamPool {
 public:
  // On CUDA, this is a memory pool (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator") that returns nothing
  // to the driver before its destruction. On the CPU, allocate() calls device_allocate() immediately.
  explicit StreamPool(Device& device);
  ~StreamPool();
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  // Allocates memory for later kernels on the stream. Throws Fault(out_of_memory) if the device has too little memory.
  void* allocate(Stream& stream, std::size_t bytes);
  // Frees memory, on CUDA after the earlier work on the stream and on the CPU immediately. Null is allowed.
  void release(Stream& stream, void* memory);

 private:
  void* native_ = nullptr;
};

}  // namespace simt
