// Heap<A>: an allocator of the suite with its memory, owned by host code.
//
//   simt::Device device(0);
//   simt::Stream stream(device);
//   allocbench::Heap<allocbench::Comb> heap(stream, 64 << 20);
//   my_kernel<<<blocks, threads, 0, stream.native()>>>(heap.handle());
//
// In the kernel, where `handle` is a parameter passed by value:
//
//   simt::Thread thread;                          // costs nothing; stands for the calling thread
//   void* block = handle.malloc(thread, bytes);   // null: out of memory
//   handle.free(thread, block);                   // of this heap: checked as allocbench/checked_handle.hpp says
//
// Allocators with a state per thread or warp (FDGMalloc, CRW) want a session: allocators/support/contract/session.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "allocators/support/contract/allocator.hpp"
#include "allocators/support/contract/heap_usage.hpp"
#include "allocators/support/contract/session.hpp"
#include "allocbench/checked_handle.hpp"
#include "simt/simt.hpp"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#error "allocbench needs sm_70 or newer: its allocators need threads of a warp that are scheduled independently"
#endif

namespace allocbench {

// Whether Heap sets the device heap, the one behind malloc() in CUDA kernels, where a design needs it.
enum class DeviceHeap { set, is_set };

template <Allocator A>
class Heap {
 public:
  using Parameters = typename A::Parameters;

  // Takes `pool_bytes` of device memory and lays out an empty heap. Throws simt::Fault, or Unsupported when the design
  // cannot serve such a pool.
  //
  // The size of the device heap can be set only before the first kernel that uses it runs. Several heaps that need it
  // share it: call device.set_device_heap_bytes() with the sum of their needed_device_heap() first, and pass is_set.
  explicit Heap(simt::Stream& stream, std::size_t pool_bytes, const Parameters& parameters = {},
                DeviceHeap device_heap = DeviceHeap::set)
      : arena_(stream, pool_bytes), allocator_(create(arena_, parameters, device_heap)) {}
  // The same in memory that the caller has, and keeps as long as the heap lives.
  Heap(simt::Stream& stream, Pool pool,
       const Parameters& parameters = {}) requires(A::traits.pool == PoolLocation::arena)
      : arena_(stream, pool), allocator_(create(arena_, parameters, DeviceHeap::set)) {}
  // No kernel may run that uses it.
  ~Heap() { destroy(allocator_); }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // For kernels, which take it by value. Valid as long as the heap lives. It converts to A, whose frees are not
  // checked.
  using Handle = std::conditional_t<checks_frees, CheckedHandle<A>, A>;
  Handle handle() const {
    if constexpr (checks_frees) {
      return Handle(allocator_, bounds());
    } else {
      return allocator_;
    }
  }

  // Empties the heap: every block is gone. Enqueued on the heap's stream.
  void reset() requires(A::traits.fresh == Fresh::by_reset) { allocator_.reset(arena_.stream()); }

  std::size_t pool_bytes() const { return arena_.pool_bytes(); }
  // Where blocks lie, besides the device heap.
  Pool pool() const {
    if constexpr (A::traits.pool == PoolLocation::own) {
      return allocator_.own_pool();
    } else {
      const std::span<std::byte> pool = arena_.parts().front();
      return {pool.data(), pool.size()};
    }
  }
  // Device memory beside the pool.
  std::size_t metadata_bytes() const { return arena_.metadata_bytes(); }
  // The largest request that an empty heap serves.
  std::size_t max_request() const { return allocbench::max_request<A>(arena_.pool_bytes(), parameters_); }
  // What is in use, and what would be served. Waits for the stream; no other kernel may run that uses the heap.
  HeapUsage usage() const requires requires(const A& allocator, simt::Stream& stream) { allocator.usage(stream); }
  { return allocator_.usage(arena_.stream()); }
  // What is wrong with the heap's own words; empty when nothing is, or the design states no invariants. Waits likewise.
  std::string check() const {
    if constexpr (requires(const A& allocator, simt::Stream& stream) { allocator.broken_invariant(stream); }) {
      return allocator_.broken_invariant(arena_.stream());
    } else {
      return {};
    }
  }
  static std::size_t needed_device_heap(std::size_t pool_bytes, const Parameters& parameters = {}) {
    return device_heap_bytes<A>(pool_bytes, parameters);
  }

 private:
  HeapBounds bounds() const {
    const Pool blocks = pool();
    const auto begin = reinterpret_cast<std::uint64_t>(blocks.base);
    constexpr bool in_device_heap =
        A::traits.pool == PoolLocation::device_heap || A::traits.pool == PoolLocation::arena_and_device_heap;
    return {begin, begin + blocks.bytes, in_device_heap ? &arena_.stream().device() : nullptr};
  }

  A create(Arena& arena, const Parameters& parameters, DeviceHeap device_heap) {
    parameters_ = parameters;
    const std::size_t needed = needed_device_heap(arena.pool_bytes(), parameters);
    if (needed != 0 && device_heap == DeviceHeap::set) set_device_heap(arena.stream().device(), needed);
    return A::create(arena, parameters);
  }

  static void set_device_heap(simt::Device& device, std::size_t bytes) {
    try {
      device.set_device_heap_bytes(bytes);
    } catch (const simt::Fault& fault) {
      throw simt::Fault(fault.kind(), std::string(A::traits.display_name) + " needs a device heap of " +
                                          std::to_string(bytes) +
                                          " bytes, which must be set before a kernel uses it: "
                                          "create this heap first, or set the device heap yourself. " +
                                          fault.what());
    }
  }

  Parameters parameters_{};
  Arena arena_;
  A allocator_;
};

}  // namespace allocbench
