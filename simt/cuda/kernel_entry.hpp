// Entries of kernels on CUDA: a __global__ function for each kernel.
#pragma once

#include "simt/common.hpp"
#include "simt/cuda/thread.hpp"

namespace simt {

template <class Kernel, class... Args>
__global__ void kernel_entry(Kernel kernel, Args... args) {
  Thread thread;
  kernel(thread, args...);
}

template <class Kernel, class... Args>
KernelPointer kernel_pointer() {
  return {reinterpret_cast<const void*>(&kernel_entry<Kernel, Args...>)};
}

}  // namespace simt
