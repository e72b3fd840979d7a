// StreamPool: device memory that the host allocates in the order of a stream, from a pool that keeps what it is given
// back. The baseline of programs that need no malloc on the device. Each back end implements it.
#pragma once

#include <cstddef>

namespace simt {

class Device;
class Stream;

class StreamPool {
 public:
  // CUDA: a memory pool (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator") that gives nothing back to the
  // driver before it is destroyed. CPU: device_allocate(), at once.
  explicit StreamPool(Device& device);
  ~StreamPool();
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  // For kernels behind it on the stream. Throws Fault(out_of_memory).
  void* allocate(Stream& stream, std::size_t bytes);
  // Behind the kernels that use it. Null is allowed.
  void release(Stream& stream, void* memory);

 private:
  void* native_ = nullptr;
};

}  // namespace simt
