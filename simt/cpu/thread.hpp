// Thread is the calling thread on the CPU executor. It has the members of simt/cuda/thread.hpp and runs them for one
// lane.
//
// Each member function at which other lanes may run, or which may fail, has one more argument at the end: the place in
// the source that calls it. This argument has a default, and callers never pass it. Classes that wrap a thread derive
// from it, so that inherited members report the call site of the caller.
#pragma once

#include <cstdint>

#include "simt/common.hpp"
#include "simt/cpu/atomic.hpp"
#include "simt/cpu/group.hpp"
#include "simt/cpu/lane.hpp"

namespace simt {

// DeviceHeap is a bounded heap in device memory. malloc() returns null if it cannot serve the request.
// `Device::set_device_heap_bytes` sets its size.
class DeviceHeap {
 public:
  explicit DeviceHeap(Lane& lane) : lane_(&lane) {}

  void* malloc(std::size_t bytes, CallSite site = CallSite::here()) const { return lane_->heap_malloc(bytes, site); }
  void free(void* block, CallSite site = CallSite::here()) const { lane_->heap_free(block, site); }

 private:
  Lane* lane_;
};

class Thread {
 public:
  explicit Thread(Lane& lane) : lane_(&lane) {}

  std::uint32_t lane() const { return lane_->index; }
  std::uint32_t block() const { return lane_->block->index; }
  std::uint32_t block_count() const { return lane_->block->block_count; }
  std::uint32_t block_size() const { return lane_->block->size; }
  std::uint32_t rank_in_block() const { return lane_->rank_in_block; }
  std::uint32_t warp_in_block() const { return lane_->rank_in_block / warp_size; }
  std::uint32_t rank_in_grid() const { return static_cast<std::uint32_t>(lane_->rank_in_grid); }
  // Returns the number of threads in the grid.
  std::uint32_t grid_size() const { return block_count() * block_size(); }

  // Returns the virtual SM of the thread. In deterministic mode, the seed determines this SM. No block moves while it
  // runs.
  std::uint32_t sm() const { return lane_->block->sm; }
  std::uint32_t sm_count() const { return lane_->block->sm_count; }
  // Returns the slot of the thread's warp. No two resident warps share a slot.
  std::uint32_t warp_slot() const { return lane_->block->first_warp_slot + warp_in_block(); }

  // Returns a group of lanes that wait here, including the caller. Correct code works for any such subset.
  // Worker::converge() chooses the lanes.
  Group converged(CallSite site = CallSite::here()) const { return Group(*lane_, lane_->converge(site)); }
  // Returns all 32 lanes. Every lane of the warp that has not exited must make the same calls.
  Group warp() const { return Group(*lane_, full_warp); }

  template <class T>
  atomic_ref<T, Space::global> atomic(T& word, CallSite site = CallSite::here()) const {
    return atomic_ref<T, Space::global>(*lane_, word, site);
  }
  template <class T>
  atomic_ref<T, Space::shared> atomic_shared(T& word, CallSite site = CallSite::here()) const {
    return atomic_ref<T, Space::shared>(*lane_, word, site);
  }

  // Lets another lane run, if one can. Every loop that waits for another thread must call this function.
  void spin_hint(CallSite site = CallSite::here()) const { lane_->spin_hint(site); }
  void probe(Step) const {}
  void note(Note, std::uint32_t) const {}
  // Returns the steps that the lane's worker has made in this launch, plus 1,000,003 for each earlier launch of the
  // device.
  std::uint64_t clock() const { return lane_->clock(); }
  // Ends this thread, wherever it is. The other threads continue, and no group operation or barrier waits for this one.
  [[noreturn]] static void exit() { throw LaneExit{}; }
  // Ends the launch with a device fault.
  [[noreturn]] void trap(CallSite site = CallSite::here()) const { lane_->fail(FaultKind::device_fault, "trap", site); }

  void block_barrier(CallSite site = CallSite::here()) const { lane_->block_barrier(site); }
  // Returns the block's dynamic shared memory (LaunchShape::shared_bytes) as an array of T. Every call returns the same
  // address.
  template <class T>
  T* shared(std::size_t count, CallSite site = CallSite::here()) const {
    static_assert(alignof(T) <= 16);
    if (count * sizeof(T) > lane_->block->shared_bytes) {
      lane_->fail(FaultKind::device_fault, "shared(): more than LaunchShape::shared_bytes", site);
    }
    return reinterpret_cast<T*>(lane_->block->shared.get());
  }
  DeviceHeap device_heap() const { return DeviceHeap(*lane_); }

  // Tests, the models of `check` and the library's checks use this function. Allocators must not use it.
  Lane& executor_lane() const { return *lane_; }

 private:
  Lane* lane_;
};

}  // namespace simt
