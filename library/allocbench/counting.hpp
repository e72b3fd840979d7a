// Counting<Heap<A>> counts the blocks of a heap that are in use, and their bytes. The design must be able to free
// single blocks.
//
//   allocbench::Counting<allocbench::Heap<allocbench::Halloc>> heap(stream, 64 << 20);
//   my_kernel<<<blocks, threads, 0, stream.native()>>>(heap.handle());
//   heap.usage().bytes;                               // requested by kernels and not freed
//
// The size of each block is stored in front of it, so a request needs CountingHandle::header_bytes more bytes. The
// counts are spread over counted_shares sums, because the GPU would execute additions to a single word one after the
// other. Heap<Comb> does not need this class, because it has its own usage().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocbench/heap.hpp"

namespace allocbench {

struct CountedUsage {
  std::uint64_t blocks = 0;   // number of blocks in use
  std::uint64_t bytes = 0;    // bytes that the callers requested for them
  std::uint64_t refused = 0;  // mallocs that returned null since the heap was created or reset
};

// CountedShare has the sums for the threads of some warps. Each share has its own sector of memory. If other warps free
// the blocks, a sum may fall below zero (modulo 2^64), but the total of all sums is right.
struct alignas(32) CountedShare {
  std::uint64_t blocks;
  std::uint64_t bytes;
  std::uint64_t refused;
};
inline constexpr std::uint32_t counted_shares = 1024;

template <std::size_t header_bytes>
struct UsageCounter {
  CountedShare* shares = nullptr;

  template <class Inner, class Thread>
  SIMT_FN void* malloc(Inner& inner, Thread& thread, std::size_t bytes) const {
    const bool fits = bytes + header_bytes > bytes;
    void* const block = fits ? inner.malloc(thread, bytes + header_bytes) : nullptr;
    CountedShare& own = share_of(thread);
    if (block == nullptr) {
      thread.atomic(own.refused).fetch_add(std::uint64_t{1}, simt::relaxed);
      return nullptr;
    }
    thread.atomic(own.blocks).fetch_add(std::uint64_t{1}, simt::relaxed);
    thread.atomic(own.bytes).fetch_add(std::uint64_t{bytes}, simt::relaxed);
    memcpy(block, &bytes, sizeof bytes);
    return static_cast<std::byte*>(block) + header_bytes;
  }
  template <class Inner, class Thread>
  SIMT_FN void free(Inner& inner, Thread& thread, void* block) const {
    if (block == nullptr) return inner.free(thread, block);
    void* const begin = static_cast<std::byte*>(block) - header_bytes;
    std::size_t bytes = 0;
    memcpy(&bytes, begin, sizeof bytes);
    CountedShare& own = share_of(thread);
    thread.atomic(own.blocks).fetch_sub(std::uint64_t{1}, simt::relaxed);
    thread.atomic(own.bytes).fetch_sub(std::uint64_t{bytes}, simt::relaxed);
    inner.free(thread, begin);
  }

 private:
  template <class Thread>
  SIMT_FN CountedShare& share_of(Thread& thread) const {
    return shares[thread.rank_in_grid() / 32 % counted_shares];
  }
};

template <class Inner, std::size_t header_bytes>
class CountingSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN CountingSession(Inner inner, UsageCounter<header_bytes> counter)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), counter_(counter) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return counter_.malloc(inner_, thread, bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    counter_.free(inner_, thread, block);
  }

 private:
  UsageCounter<header_bytes> counter_;
};

// CountingHandle is the handle of a counting heap. `A` is the handle of the heap whose blocks it counts.
template <class A>
class CountingHandle : public A {
 public:
  // Blocks keep the alignment that the design promises.
  static constexpr std::size_t header_bytes =
      A::traits.alignment < sizeof(std::size_t) ? sizeof(std::size_t) : A::traits.alignment;

  CountingHandle(const A& allocator, CountedShare* shares) : A(allocator), counter_{shares} {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return counter_.malloc(static_cast<A&>(*this), thread, bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    counter_.free(static_cast<A&>(*this), thread, block);
  }
  template <class Thread>
  SIMT_FN auto attach(Thread& thread) requires requires(A& allocator) {
    allocator.attach(thread);
  }
  { return CountingSession<decltype(A::attach(thread)), header_bytes>(A::attach(thread), counter_); }

 private:
  UsageCounter<header_bytes> counter_;
};

template <class HeapType>
class Counting;

template <Allocator A>
class Counting<Heap<A>> {
  static_assert(A::traits.frees == Frees::individually,
                "blocks in use are counted by their frees; this design has none");

 public:
  using Handle = CountingHandle<typename Heap<A>::Handle>;

  // Makes the heap. The arguments are those of Heap<A>.
  template <class... Arguments>
  explicit Counting(simt::Stream& stream, Arguments&&... arguments)
      : stream_(stream), heap_(stream, std::forward<Arguments>(arguments)...), shares_(counted_shares) {
    shares_.fill_bytes(stream, 0);
  }

  Handle handle() const { return Handle(heap_.handle(), shares_.data()); }

  // Returns the usage. Waits for the stream. No kernel of another stream may use the heap at the same time.
  CountedUsage usage() const {
    CountedUsage usage;
    for (const CountedShare& each : shares_.to_host(stream_)) {
      usage.blocks += each.blocks;
      usage.bytes += each.bytes;
      usage.refused += each.refused;
    }
    return usage;
  }
  void reset() requires(A::traits.fresh == Fresh::by_reset) {
    heap_.reset();
    shares_.fill_bytes(stream_, 0);
  }
  std::string check() const { return heap_.check(); }
  const Heap<A>& heap() const { return heap_; }

 private:
  simt::Stream& stream_;
  Heap<A> heap_;
  simt::Buffer<CountedShare> shares_;
};

}  // namespace allocbench
