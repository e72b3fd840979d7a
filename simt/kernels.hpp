// These functions launch and describe kernels on both back ends. The first part takes kernels as KernelPointers, and
// the second part names them by their types.
//
// Kernels are function objects: `template <class Thread> SIMT_FN void operator()(Thread& thread, Args... args) const`.
// Every thread gets its own copy of kernel and arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simt/common.hpp"
#if !SIMT_CUDA
#include "simt/cpu/kernel_entry.hpp"
#elif defined(__CUDACC__)
#include "simt/cuda/kernel_entry.hpp"
#endif

namespace simt {

class Stream;

// Enqueues a kernel on CUDA, or runs it on the CPU. `arguments` are the addresses of the kernel object and of one value
// for each type in Args, in this order. Args are the types with which kernel_pointer<Kernel, Args...>() made the
// pointer.
void launch_kernel(Stream& stream, LaunchShape shape, KernelPointer kernel, std::span<const void* const> arguments);
struct KernelLaunch {
  Stream* stream = nullptr;
  LaunchShape shape;
  KernelPointer kernel;
  std::span<const void* const> arguments;
};
// Enqueues each launch on its stream. Launches on different streams may run at once. No launch may wait for another,
// because nothing guarantees that both are resident. On the CPU executor the launches run immediately as one launch,
// with their blocks in a seeded order. There, all blocks must have the same number of threads and the same amount of
// shared memory.
void launch_kernels(std::span<const KernelLaunch> launches);
// Returns the resources of a kernel. All members of a family have the attributes of the family.
KernelAttributes kernel_attributes(KernelPointer kernel);
// Returns how many blocks of this kernel can be resident on the whole device at once.
std::uint32_t max_resident_blocks(Stream& stream, KernelPointer kernel, std::uint32_t threads_per_block,
                                  std::size_t shared_bytes);

// The rest of this header names kernels by their types. It is for code that the compiler of the back end compiles.
#if !SIMT_CUDA || defined(__CUDACC__)

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

// KernelFamily is a set of kernels that call the same functions, for untimed launches. On CUDA they have one entry, so
// that the compiler makes one copy of each SIMT_NOINLINE_FN instead of one per kernel (simt/cuda/kernel_entry.hpp).
template <class... Members>
struct KernelFamily {
  // Returns the pointer of one of the members, FamilyMember<Kernel, Args...>.
  template <class Member>
  static KernelPointer pointer() {
    return member_pointer<Member, Members...>();
  }
};

#endif

}  // namespace simt
