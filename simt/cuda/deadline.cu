#include <atomic>

#include "simt/cuda/deadline.hpp"
#include "simt/cuda/host.hpp"

namespace simt {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

__global__ void set_end(std::uint64_t* end, std::uint64_t nanoseconds) {
  *end = nanoseconds == never ? never : global_nanoseconds() + nanoseconds;
}

}  // namespace

Deadline::Deadline(Stream& stream) : stream_(stream) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, sizeof *end_), "cudaMalloc");
  end_ = static_cast<std::uint64_t*>(memory);
  check_cuda(cudaHostAlloc(&memory, sizeof *passed_, cudaHostAllocMapped), "cudaHostAlloc");
  passed_ = new (memory) std::uint32_t(0);
  stop();
}

// Destructors may run during the unwinding of a fault. CUDA calls may fail then, so their errors are ignored.
Deadline::~Deadline() {
  static_cast<void>(cudaFree(end_));
  static_cast<void>(cudaFreeHost(passed_));
}

void Deadline::start(double seconds) {
  stream_.synchronize();  // after this, no thread of earlier kernels writes the flag
  std::atomic_ref(*passed_).store(0, std::memory_order_relaxed);
  set_end<<<1, 1, 0, stream_.native()>>>(end_, static_cast<std::uint64_t>(seconds * 1e9));
  check_cuda(cudaGetLastError(), "kernel launch");
}

void Deadline::stop() {
  Hold::before_wait("a deadline is removed");
  set_end<<<1, 1, 0, stream_.native()>>>(end_, never);
  check_cuda(cudaGetLastError(), "kernel launch");
}

bool Deadline::passed() const { return std::atomic_ref(*passed_).load(std::memory_order_acquire) != 0; }

DeadlineView Deadline::view() const {
  std::uint32_t* on_device = nullptr;
  check_cuda(cudaHostGetDevicePointer(reinterpret_cast<void**>(&on_device), passed_, 0), "cudaHostGetDevicePointer");
  return {end_, on_device};
}

}  // namespace simt
