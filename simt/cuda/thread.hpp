// Thread is the calling thread on CUDA: an empty object whose members read special registers. Passing it costs nothing.
#pragma once

#include "simt/common.hpp"
#include "simt/cuda/atomic.hpp"
#include "simt/cuda/group.hpp"

namespace simt {

// DeviceHeap is CUDA's own device-side heap. malloc() returns null if it cannot serve the request. The size must be set
// before the first launch of the process (`Device::set_device_heap_bytes`).
struct DeviceHeap {
  SIMT_FN void* malloc(std::size_t bytes) const { return ::malloc(bytes); }
  SIMT_FN void free(void* block) const { ::free(block); }
};

class Thread {
 public:
  SIMT_FN std::uint32_t lane() const {
    std::uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  SIMT_FN std::uint32_t block() const { return blockIdx.x; }
  SIMT_FN std::uint32_t block_count() const { return gridDim.x; }
  SIMT_FN std::uint32_t block_size() const { return blockDim.x; }
  SIMT_FN std::uint32_t rank_in_block() const { return threadIdx.x; }
  SIMT_FN std::uint32_t warp_in_block() const { return threadIdx.x / warp_size; }
  SIMT_FN std::uint32_t rank_in_grid() const { return blockIdx.x * blockDim.x + threadIdx.x; }
  // Returns the number of threads in the grid.
  SIMT_FN std::uint32_t grid_size() const { return gridDim.x * blockDim.x; }

  // Returns the multiprocessor on which the thread currently runs. The answer may change between two calls, so read it
  // once per operation.
  SIMT_FN std::uint32_t sm() const {
    std::uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
  }
  // Returns a number that is larger than each sm(). Not every smaller number must be the id of an SM.
  SIMT_FN std::uint32_t sm_count() const {
    std::uint32_t count;
    asm("mov.u32 %0, %%nsmid;" : "=r"(count));
    return count;
  }
  SIMT_FN std::uint32_t warp_slot() const {
    std::uint32_t slot;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    return slot;
  }

  // Returns a group of lanes that run together now, including the caller. Correct code works for any such subset.
  SIMT_FN Group converged() const { return Group(__activemask()); }
  // Returns all 32 lanes. The caller promises that every lane of the warp that has not exited makes the same calls.
  SIMT_FN Group warp() const { return Group(full_warp); }

  template <class T>
  SIMT_FN atomic_ref<T, Space::global> atomic(T& word) const {
    return atomic_ref<T, Space::global>(word);
  }
  template <class T>
  SIMT_FN atomic_ref<T, Space::shared> atomic_shared(T& word) const {
    return atomic_ref<T, Space::shared>(word);
  }

  // Every loop that waits for another thread must call this function.
  SIMT_FN void spin_hint() const { __nanosleep(20); }
  SIMT_FN void probe(Step) const {}
  SIMT_FN void note(Note, std::uint32_t) const {}
  // Returns the cycle counter of the SM on which the thread runs.
  SIMT_FN std::uint64_t clock() const { return static_cast<std::uint64_t>(clock64()); }
  // Ends this thread, wherever it is. The other threads continue, and no group operation or barrier waits for this one.
  static SIMT_FN void exit() { asm volatile("exit;"); }
  // Ends the launch with a device fault.
  SIMT_FN void trap() const { __trap(); }

  SIMT_FN void block_barrier() const { __syncthreads(); }
  // Returns the block's dynamic shared memory (LaunchShape::shared_bytes) as an array of T. Every call returns the same
  // address.
  template <class T>
  SIMT_FN T* shared(std::size_t /*count*/) const {
    extern __shared__ __align__(16) unsigned char simt_dynamic_shared_memory[];
    return reinterpret_cast<T*>(simt_dynamic_shared_memory);
  }
  SIMT_FN DeviceHeap device_heap() const { return {}; }
};

}  // namespace simt
