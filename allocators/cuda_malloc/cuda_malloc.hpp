// CudaMalloc: the back end's own device heap, called as it is.
//
// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations"; algorithm unpublished.
// On the CPU back end the executor's bounded deterministic heap takes its place, so that allocators which lean on the
// device heap run there too; its speed says nothing about CUDA's.
// Data: none of ours. The heap's size is the cell's pool size and is fixed before the first launch of the process;
// freeing everything does not restore its first state, so a fresh heap means a fresh process.
#pragma once

#include "allocators/contract/allocator.hpp"

namespace allocbench {

class CudaMalloc {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "cuda_malloc",
                                 .display_name = "CudaMalloc",
                                 .paper = "CUDA C++ Programming Guide, device-side malloc",
                                 .summary = "the device heap built into the CUDA runtime",
                                 .pool = PoolLocation::device_heap,
                                 .fresh = Fresh::by_process};

  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 2048}; }

  static CudaMalloc create(Arena&, const Parameters&) { return {}; }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return thread.device_heap().malloc(bytes);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    thread.device_heap().free(block);
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cuda_malloc, CudaMalloc)
