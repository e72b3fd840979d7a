// CudaMalloc calls the back end's own device heap directly.
//
// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations". The algorithm is unpublished.
//
// On the CPU back end, the executor's bounded deterministic heap replaces CUDA's heap, so that allocators over the
// device heap also run there. The speed of the executor's heap does not predict that of CUDA's heap.
//
// Data: CudaMalloc has no data of its own. The size of the heap is the cell's pool size and is fixed before the first
// launch of the process. Freeing all blocks does not restore the initial state of the heap, so a fresh heap needs a new
// process. device_heap_share.hpp gives the largest request, and the reason for the guard against requests above the
// heap's size.
#pragma once

#include "allocators/support/common/device_heap_share.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

class CudaMalloc {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "cuda_malloc",
                                 .display_name = "CudaMalloc",
                                 .paper = "CUDA C++ Programming Guide, device-side malloc",
                                 .summary = "the device heap built into the CUDA runtime",
                                 .form = Form::original,
                                 .pool = PoolLocation::device_heap,
                                 .fresh = Fresh::by_process};

  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 2048}; }

  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return largest_in_device_heap(pool_bytes);
  }

  static CudaMalloc create(Arena& arena, const Parameters&) {
    CudaMalloc allocator;
    allocator.limit_.bytes = arena.pool_bytes();
    return allocator;
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return limit_.refuses(bytes) ? nullptr : thread.device_heap().malloc(bytes);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    thread.device_heap().free(block);
  }

 private:
  RequestLimit limit_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(cuda_malloc, CudaMalloc)
