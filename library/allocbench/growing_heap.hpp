// GrowingHeap<A> is a heap whose pool grows between kernels, within reserved addresses. Blocks do not move.
//
//   allocbench::GrowingHeap<allocbench::Comb> heap(stream, 64 << 20, std::size_t{8} << 30);
//   my_kernel<<<...>>>(heap.handle());
//   if (heap.usage().free_bytes < (16 << 20)) heap.grow(2 * heap.pool_bytes());
//
// The metadata is laid out for the largest pool from the beginning. The design must be able to move the end of its
// pool, as Comb can.
#pragma once

#include <algorithm>
#include <string>

#include "allocbench/heap.hpp"
#include "simt/reservation.hpp"

namespace allocbench {

template <Allocator A>
class GrowingHeap {
  static_assert(
      requires(A & allocator, simt::Stream& stream) { allocator.move_end(stream, 0, 0); },
      "this design cannot grow its pool; Comb can");

 public:
  using Parameters = typename A::Parameters;
  using Handle = typename Heap<A>::Handle;

  // Reserves `most_bytes` of addresses and allocates memory for the first `pool_bytes`. Throws the exceptions of Heap
  // and of simt::Reservation, and Unsupported if `pool_bytes` has no whole chunk or exceeds `most_bytes`.
  GrowingHeap(simt::Stream& stream, std::size_t pool_bytes, std::size_t most_bytes, const Parameters& parameters = {})
      : stream_(stream),
        reserved_(stream.device(), checked(pool_bytes, most_bytes)),
        heap_(stream, begin(pool_bytes), A::parameters_for_growth(parameters, pool_bytes, most_bytes)),
        allocator_(heap_.handle()),
        end_(heap_.max_request()) {
    move_end();
    if (end_ != 0) return;
    throw Unsupported("a pool that begins with " + std::to_string(pool_bytes) + " bytes and may grow to " +
                      std::to_string(most_bytes) + " has no chunk at first. Begin with more");
  }

  // Returns the handle for kernels. The handle stays valid after a growth.
  Handle handle() const { return heap_.handle(); }

  // Adds memory until there are at least `pool_bytes`. The pool gets the whole chunks in this memory. The pool never
  // shrinks. Waits for the stream. No kernel of another stream may use the heap at the same time. Throws simt::Fault
  // and leaves the heap unchanged if memory or the reservation is exhausted.
  void grow(std::size_t pool_bytes) {
    stream_.synchronize();
    reserved_.grow(pool_bytes);
    move_end();
  }
  // Empties the heap. The pool keeps its size.
  void reset() {
    heap_.reset();
    end_ = heap_.max_request();
    move_end();
  }

  std::size_t pool_bytes() const { return end_; }
  std::size_t most_pool_bytes() const { return heap_.max_request(); }
  std::size_t metadata_bytes() const { return heap_.metadata_bytes(); }
  // Returns the usage without the part of the pool that has no memory. Otherwise usage() and check() do the same as
  // those of Heap.
  HeapUsage usage() const {
    HeapUsage usage = heap_.usage();
    if (end_ == most_pool_bytes()) return usage;
    --usage.blocks;  // the part without memory counts as a block
    usage.bytes -= most_pool_bytes() - end_;
    return usage;
  }
  std::string check() const { return heap_.check(); }

 private:
  static std::size_t checked(std::size_t pool_bytes, std::size_t most_bytes) {
    if (pool_bytes != 0 && pool_bytes <= most_bytes) return most_bytes;
    throw Unsupported("a pool that begins with " + std::to_string(pool_bytes) + " bytes cannot grow to " +
                      std::to_string(most_bytes));
  }
  Pool begin(std::size_t pool_bytes) {
    reserved_.grow(pool_bytes);
    return {reserved_.base(), reserved_.most_bytes()};
  }
  void move_end() {
    const std::size_t there = std::min(reserved_.bytes(), most_pool_bytes());
    if (there != end_) end_ = allocator_.move_end(stream_, end_, there);
  }

  simt::Stream& stream_;
  simt::Reservation reserved_;
  Heap<A> heap_;
  A allocator_;      // a copy of the handle; the state of the design is in device memory
  std::size_t end_;  // bytes of the pool in whole chunks
};

}  // namespace allocbench
