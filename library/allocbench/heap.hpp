// Heap<A> is an allocator of the suite with its memory. Host code owns the heap.
//
//   simt::Device device(0);
//   simt::Stream stream(device);
//   allocbench::Heap<allocbench::Comb> heap(stream, 64 << 20);
//   my_kernel<<<blocks, threads, 0, stream.native()>>>(heap.handle());
//
// In the kernel, where `handle` is a parameter passed by value:
//
//   simt::Thread thread;                          // the calling thread; costs nothing
//   void* block = handle.malloc(thread, bytes);   // null: out of memory
//   handle.free(thread, block);                   // a block of this heap (allocbench/checked_handle.hpp checks it)
//
// Allocators with a state per thread or warp, such as FDGMalloc, need a session
// (allocators/support/contract/session.hpp).
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

// DeviceHeap selects whether Heap sets the size of the device heap (that of malloc() in CUDA kernels) for designs that
// need it.
enum class DeviceHeap { set, is_set };

template <Allocator A>
class Heap {
 public:
  using Parameters = typename A::Parameters;

  // Allocates `pool_bytes` of device memory and makes an empty heap in it. Throws simt::Fault if the back end reports
  // an error, and Unsupported if the design cannot use such a pool.
  //
  // The size of the device heap can be set only before the first kernel that uses the device heap. If several heaps
  // need it, first call device.set_device_heap_bytes() with the sum of their needed_device_heap(), then pass is_set to
  // each heap.
  explicit Heap(simt::Stream& stream, std::size_t pool_bytes, const Parameters& parameters = {},
                DeviceHeap device_heap = DeviceHeap::set)
      : arena_(stream, pool_bytes), allocator_(create(arena_, parameters, device_heap)) {}
  // Makes the heap in memory of the caller, who must keep this memory as long as the heap exists.
  Heap(simt::Stream& stream, Pool pool,
       const Parameters& parameters = {}) requires(A::traits.pool == PoolLocation::arena)
      : arena_(stream, pool), allocator_(create(arena_, parameters, DeviceHeap::set)) {}
  // Ends the heap. No kernel that uses it may run.
  ~Heap() { destroy(allocator_); }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Returns the handle, which kernels take by value. The handle is valid as long as the heap exists. The handle
  // converts to A, which does not check frees.
  using Handle = std::conditional_t<checks_frees, CheckedHandle<A>, A>;
  Handle handle() const {
    if constexpr (checks_frees) {
      return Handle(allocator_, bounds());
    } else {
      return allocator_;
    }
  }

  // Discards all blocks. The reset is enqueued on the heap's stream.
  void reset() requires(A::traits.fresh == Fresh::by_reset) { allocator_.reset(arena_.stream()); }

  std::size_t pool_bytes() const { return arena_.pool_bytes(); }
  // Returns the memory of the blocks, apart from the device heap.
  Pool pool() const {
    if constexpr (A::traits.pool == PoolLocation::own) {
      return allocator_.own_pool();
    } else {
      const std::span<std::byte> pool = arena_.parts().front();
      return {pool.data(), pool.size()};
    }
  }
  // Returns the bytes of device memory outside the pool.
  std::size_t metadata_bytes() const { return arena_.metadata_bytes(); }
  // Returns the largest request that an empty heap serves.
  std::size_t max_request() const { return allocbench::max_request<A>(arena_.pool_bytes(), parameters_); }
  // Returns the memory in use and the memory that requests can still get. Waits for the stream. No kernel of another
  // stream may use the heap at the same time.
  HeapUsage usage() const requires requires(const A& allocator, simt::Stream& stream) { allocator.usage(stream); }
  { return allocator_.usage(arena_.stream()); }
  // Checks the invariants of the metadata and returns one that does not hold. Returns an empty text if all hold or the
  // design states no invariants. Waits like usage().
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
