// All forms of Halloc share this host code: limits, small heaps for tests and models, and the steps of the hash.
#pragma once

#include "allocators/halloc/parameters.hpp"
#include "allocators/halloc/size_classes.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::halloc {

class HallocBase {
 public:
  using Parameters = halloc::Parameters;

  static std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters& parameters) {
    return halloc::device_heap_bytes(pool_bytes, parameters);
  }
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return halloc::max_request(pool_bytes, parameters);
  }

 protected:
  // The heap has three slabs, each of 32 chunks of 16 bytes or 16 chunks of 24 bytes, so that models reach all
  // thresholds. Lanes that already visit a slab may fill it beyond `busy`, so a lone lane gets less out of the heap
  // than many lanes together.
  template <class P = Parameters>
  static SmallHeap<P> three_slabs(double serves_other_sizes) {
    P parameters;
    parameters.slab_bytes = 512;
    parameters.slab_share = 1;
    parameters.sparse = 0.2;
    return {3 * 512, parameters, parameters.busy, serves_other_sizes};
  }
  // In this heap, a slab has more than one word of bits, and a device heap serves larger requests.
  template <class P = Parameters>
  static SmallHeap<P> slabs_and_device_heap(double serves_other_sizes) {
    auto heap = three_slabs<P>(serves_other_sizes);
    heap.pool_bytes = 6 * 1024;
    heap.parameters.slab_bytes = 1024;
    heap.parameters.slab_share = 0.5;
    return heap;
  }

  // Returns the steps of the hash per size, in device memory.
  static const std::uint32_t* hash_steps(Arena& arena, const SizeClasses& classes) {
    std::uint32_t steps[size_count];
    for (std::uint32_t id = 0; id < size_count; ++id) steps[id] = hash_step(id, classes.chunks(kind_of(id)).divisor());
    auto* const device_steps = arena.metadata<std::uint32_t>(size_count);
    simt::copy_to_device(arena.stream(), device_steps, steps, sizeof steps);
    return device_steps;
  }
};

}  // namespace allocbench::halloc
