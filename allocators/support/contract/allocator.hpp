// This header defines the contract that every allocator plug-in must keep.
//
// A plug-in is a trivially copyable handle that kernels receive by value:
//
//   struct MyMalloc {
//     struct Parameters { ...; static auto fields(); };
//     static constexpr Traits traits{.name = "my_malloc", ...};
//
//     // Initialises the state. Throws Fault or Unsupported.
//     static MyMalloc create(Arena&, const Parameters&);
//
//     // Makes the heap new again. May return before the stream has finished. Absent with Fresh::by_process.
//     void reset(simt::Stream&);
//
//     // Returns null if the memory is exhausted or the request is too large. Ends in bounded time.
//     template <class Thread> SIMT_FN void* malloc(Thread&, std::size_t bytes);
//
//     // Null is allowed as `block`.
//     template <class Thread> SIMT_FN void free(Thread&, void* block);
//
//     // The members below are optional. By default, max_request() is pool_bytes, device_heap_bytes() is 0 (with
//     // PoolLocation::device_heap, pool_bytes), and the small heap has 64 KiB and default parameters.
//     static std::size_t max_request(std::size_t pool_bytes, const Parameters&);
//     static std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters&);
//     static SmallHeap<Parameters> small_heap();          // heap that `allocbench check` searches
//     static SmallHeap<Parameters> second_small_heap();   // another such heap, in which other rules may apply
//     static SmallHeap<Parameters> heap_of_many_units();  // another such heap, with more units than a word has bits
//     // Explains which constant is too small for a pool that blocks of `bytes` fill, and gives a remedy. Returns an
//     // empty text if all constants are large enough. Before the requests, the fraction `share` of the blocks is
//     // free. At the end, all blocks are freed.
//     static std::string why_too_many_free(std::size_t pool_bytes, const Parameters&, std::size_t bytes, double share);
//     Pool own_pool() const;                              // PoolLocation::own: where the blocks are
//     // Returns the alignment of blocks for a request. Needed only if it can exceed the trait `alignment`.
//     std::size_t alignment_of(std::size_t bytes) const;
//     void destroy();                                     // releases memory that the arena does not own
//     // Returns the first broken invariant, or an empty text. It is called while no kernel runs.
//     std::string broken_invariant(simt::Stream&) const;
//   };
//   ALLOCBENCH_REGISTER(my_malloc, MyMalloc)
//
// A worker may create several instances, one after the other or at the same time, for example for the leak check.
// destroy() ends each instance while no kernel runs. There is no destructor, because handles are copied freely.
// create() may block and may use the default stream. Kernels pass the calling `thread`; libraries with their own device
// code may ignore it.
//
// The plug-in also needs one line of CMake: allocbench_add_allocator(my_malloc HEADER path/to/my_malloc.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "allocators/support/contract/arena.hpp"
#include "allocators/support/contract/parameters.hpp"
#include "allocators/support/contract/traits.hpp"
#include "simt/simt.hpp"

namespace allocbench {

// create() throws Unsupported if the design cannot use this pool or these parameters. The text gives the reason and
// what is allowed.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class A>
concept Allocator = std::is_trivially_copyable_v<A> &&
    requires(Arena& arena, const typename A::Parameters& parameters) {
  { A::traits.name } -> std::convertible_to<std::string_view>;
  { A::create(arena, parameters) } -> std::same_as<A>;
};

// Returns the largest request that the design must serve from a fresh pool.
template <Allocator A>
std::size_t max_request(std::size_t pool_bytes, const typename A::Parameters& parameters) {
  if constexpr (requires { A::max_request(pool_bytes, parameters); }) {
    return A::max_request(pool_bytes, parameters);
  } else {
    return pool_bytes;
  }
}

// Returns the size of the back end's device heap, which must be set before the first launch of the process.
template <Allocator A>
std::size_t device_heap_bytes(std::size_t pool_bytes, const typename A::Parameters& parameters) {
  if constexpr (requires { A::device_heap_bytes(pool_bytes, parameters); }) {
    return A::device_heap_bytes(pool_bytes, parameters);
  } else {
    return A::traits.pool == PoolLocation::device_heap ? pool_bytes : 0;
  }
}

// Ends an instance, and releases memory that the arena does not own.
template <Allocator A>
void destroy(A& allocator) {
  if constexpr (requires { allocator.destroy(); }) allocator.destroy();
}

// SmallHeap is a heap on which `allocbench check` searches interleavings, because many interleavings are rare in large
// heaps and common in small ones. It should be the smallest heap that still uses every rule of the design. At best, a
// few dozen mallocs of 16 bytes exhaust it, and frees lead to every kind of recycling that the design has.
template <class Parameters>
struct SmallHeap {
  std::size_t pool_bytes = std::size_t{64} << 10;
  Parameters parameters = {};
  // After all blocks are freed, a lone lane must get this share of N equal blocks. N is the largest number of blocks in
  // use together, or the number that a fresh heap serves to a lone lane if that is smaller. In models that refill the
  // heap, N is the fresh heap's number. The share is less than 1 if the design abandons memory; the header of the
  // design then gives the reason.
  double serves_again = 1;
  // After blocks of another size have filled the heap and are freed, a lone lane must get this share s of the blocks
  // that a fresh heap serves to it. In a model of n sizes, it must get the share max(0, 1 - (n - 1) * (1 - s)). The
  // share s is 0 if a size may keep its memory forever; the header of the design then gives the reason.
  double serves_other_sizes = 1;
  // Least number of 16-byte blocks that a fresh heap serves to a lone lane, or 0 if the design does not state it. With
  // the trait whole_warp_calls, a lone warp calls. This number exposes memory that even a fresh heap never serves.
  std::uint32_t serves_new = 0;
};

template <Allocator A>
SmallHeap<typename A::Parameters> small_heap() {
  if constexpr (requires { A::small_heap(); }) {
    return A::small_heap();
  } else {
    return {};
  }
}

// Returns a second heap for the search. Other rules may apply in this heap. By default it is the small heap with twice
// the pool and twice `serves_new`.
template <Allocator A>
SmallHeap<typename A::Parameters> second_small_heap() {
  if constexpr (requires { A::second_small_heap(); }) {
    return A::second_small_heap();
  } else {
    auto heap = small_heap<A>();
    heap.pool_bytes *= 2;
    heap.serves_new *= 2;
    return heap;
  }
}

// heap_of_many_units() is for designs with a bitmap of units, such as the slabs of Halloc or the windows of Comb. Its
// heap must have more units than a word of the bitmap has bits. Choose small units, so that the heap stays small.
template <class A>
concept HasHeapOfManyUnits = requires {
  A::heap_of_many_units();
};

template <Allocator A>
SmallHeap<typename A::Parameters> heap_of_many_units() {
  if constexpr (HasHeapOfManyUnits<A>) {
    return A::heap_of_many_units();
  } else {
    return small_heap<A>();
  }
}

template <class... Allocators>
struct AllocatorList {};

}  // namespace allocbench

// Registers the allocator types of a plug-in. `plugin` is the name passed to allocbench_add_allocator().
#define ALLOCBENCH_REGISTER(plugin, ...)                   \
  namespace allocbench::plugins {                          \
  using plugin = ::allocbench::AllocatorList<__VA_ARGS__>; \
  }
