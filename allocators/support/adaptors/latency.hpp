// Latency<A> is the allocator A with a histogram in the shared memory of the caller's thread block. The histogram has
// the durations of malloc and free.
//
// The duration of a call is the difference of two clock reads. In malloc, the returned pointer is stored before the
// second read, so a malloc ends when its caller has the pointer. A free has no result and ends when it returns. The
// histogram is updated after the second read, so no duration includes the update.
//
// With `calls` false the adaptor does everything except the call. The histogram then shows the adaptor's own cost.
#pragma once

#include "allocators/support/adaptors/latency_histogram.hpp"
#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// BlockLatencies is the histogram of a thread block. All its threads call open() first and close() last.
class BlockLatencies {
 public:
  using Shared = LatencyHistogram<std::uint32_t>;
  using Sum = LatencyHistogram<std::uint64_t>;
  static constexpr std::size_t shared_bytes = sizeof(Shared);

  template <class Thread>
  static SIMT_FN BlockLatencies open(Thread& thread) {
    Shared* const counted = thread.template shared<Shared>(1);
    if (thread.rank_in_block() == 0) counted->largest = 0;
    for (std::uint32_t i = thread.rank_in_block(); i < LatencyBuckets::count; i += thread.block_size()) {
      counted->counts[i] = 0;
    }
    thread.block_barrier();
    return BlockLatencies(counted);
  }

  template <class Thread>
  SIMT_FN void add(Thread& thread, std::uint64_t ticks) const {
    thread.atomic_shared(counted_->counts[LatencyBuckets::bucket_of(ticks)]).fetch_add(1u, simt::relaxed);
    thread.atomic_shared(counted_->largest).fetch_max(ticks, simt::relaxed);
  }
  template <class Thread>
  SIMT_FN void wait_for(Thread& thread, const void* block) const {
    thread.atomic_shared(counted_->last_block).store(reinterpret_cast<std::uint64_t>(block), simt::relaxed);
  }

  // Adds the counts of the thread block to `sum` in device memory, and raises the largest duration of `sum` if needed.
  template <class Thread>
  SIMT_FN void close(Thread& thread, Sum* sum) const {
    thread.block_barrier();
    if (thread.rank_in_block() == 0) thread.atomic(sum->largest).fetch_max(counted_->largest, simt::relaxed);
    for (std::uint32_t i = thread.rank_in_block(); i < LatencyBuckets::count; i += thread.block_size()) {
      const std::uint64_t count = counted_->counts[i];
      if (count != 0) thread.atomic(sum->counts[i]).fetch_add(count, simt::relaxed);
    }
  }

 private:
  SIMT_FN explicit BlockLatencies(Shared* counted) : counted_(counted) {}

  Shared* counted_;
};

// LatencySession is the session of an allocator with a latency histogram.
template <class Inner>
class LatencySession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN LatencySession(Inner inner, const BlockLatencies& latencies, bool calls)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), latencies_(latencies), calls_(calls) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const std::uint64_t begin = thread.clock();
    void* const block = calls_ ? inner_.malloc(thread, bytes) : nullptr;
    latencies_.wait_for(thread, block);
    latencies_.add(thread, thread.clock() - begin);
    return block;
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    const std::uint64_t begin = thread.clock();
    if (calls_) inner_.free(thread, block);
    latencies_.add(thread, thread.clock() - begin);
  }

 private:
  BlockLatencies latencies_;
  bool calls_;
};

template <class A>
class Latency {
 public:
  static constexpr Traits traits = A::traits;
  using Parameters = typename A::Parameters;

  SIMT_FN Latency(A& inner, const BlockLatencies& latencies, bool calls)
      : inner_(inner), latencies_(latencies), calls_(calls) {}

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    using Inner = decltype(allocbench::attach(inner_, thread));
    return LatencySession<Inner>(allocbench::attach(inner_, thread), latencies_, calls_);
  }

 private:
  A& inner_;
  BlockLatencies latencies_;
  bool calls_;
};

}  // namespace allocbench
