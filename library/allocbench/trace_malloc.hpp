// This header records the malloc() and free() calls of kernels. With CUDA, the kernels need no change. Include this
// header after all others.
//
//   #include <allocbench/trace_malloc.hpp>
//   __global__ void my_kernel(...) { ... malloc(bytes) ... free(block) ... }
//
//   allocbench::MallocTrace trace(64 << 20);                                     // in main(): the pool
//   my_kernel<<<blocks, threads>>>(...);
//   trace.end_kernel("my_kernel", {blocks, threads});                            // after each kernel that allocates
//   trace.write("my.trace");
//
// The allocator Comb serves the kernels from its own pool instead of CUDA's heap. With CUDA, host code keeps its
// malloc() and free(). After the include, std::malloc does not compile; write ::malloc. A `__device__` variable refers
// to the trace, so kernels and MallocTrace must be in one file. On the CPU executor, the macros pass a variable
// `thread`, the calling thread. So after the include, only code with a variable of this name can call malloc() and
// free(). Link allocbench::traces.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "allocators/comb/comb.hpp"
#include "allocbench/traced.hpp"

namespace allocbench {

namespace trace_malloc {

using Handle = Traced<Heap<Comb>>::Handle;

// Place is memory for a handle. The handle exists only while there is a trace.
struct Place {
  alignas(Handle) unsigned char bytes[sizeof(Handle)];
};
#if SIMT_CUDA
static __device__ Place place;
#else
inline Place place;
#endif

template <class Thread>
SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
  return reinterpret_cast<Handle*>(place.bytes)->malloc(thread, bytes);
}
template <class Thread>
SIMT_FN void free(Thread& thread, void* block) {
  reinterpret_cast<Handle*>(place.bytes)->free(thread, block);
}

}  // namespace trace_malloc

// MallocTrace is the trace of a program. A program may have only one trace at a time.
class MallocTrace {
 public:
  // Throws the exceptions of Heap<Comb>.
  explicit MallocTrace(std::size_t pool_bytes, const TraceOptions& options = {})
      : device_(0), stream_(device_), heap_(options, stream_, pool_bytes) {
    place_handle();
  }

  // Ends the record of a kernel, or of several kernels with one shape that count as one. Waits for the device.
  void end_kernel(std::string name, simt::LaunchShape shape) {
#if SIMT_CUDA
    require(cudaDeviceSynchronize());  // the kernel is on a stream of the program
#endif
    heap_.end_kernel(std::move(name), shape);
    place_handle();
  }

  const traces::Trace& trace() const { return heap_.trace(); }
  // Throws traces::TraceError if the folder already contains a trace or cannot be written.
  void write(const std::filesystem::path& folder) const { heap_.write(folder); }

 private:
  void place_handle() {
    const trace_malloc::Handle handle = heap_.handle();
#if SIMT_CUDA
    require(cudaMemcpyToSymbol(trace_malloc::place, &handle, sizeof handle));
#else
    new (trace_malloc::place.bytes) trace_malloc::Handle(handle);
#endif
  }
#if SIMT_CUDA
  static void require(cudaError_t result) {
    if (result != cudaSuccess) throw simt::Fault(simt::FaultKind::device_fault, cudaGetErrorString(result));
  }
#endif

  simt::Device device_;
  simt::Stream stream_;
  Traced<Heap<Comb>> heap_;
};

}  // namespace allocbench

#if SIMT_CUDA
inline __host__ __device__ void* allocbench_malloc(std::size_t bytes) {
#if defined(__CUDA_ARCH__)
  simt::Thread thread;
  return allocbench::trace_malloc::malloc(thread, bytes);
#else
  return ::malloc(bytes);
#endif
}
inline __host__ __device__ void allocbench_free(void* block) {
#if defined(__CUDA_ARCH__)
  simt::Thread thread;
  allocbench::trace_malloc::free(thread, block);
#else
  ::free(block);
#endif
}
#define malloc allocbench_malloc
#define free allocbench_free
#else
#define malloc(bytes) ::allocbench::trace_malloc::malloc(thread, bytes)
#define free(block) ::allocbench::trace_malloc::free(thread, block)
#endif
