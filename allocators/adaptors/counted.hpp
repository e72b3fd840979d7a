// Counted<A>: any allocator with the operations of its malloc and free on shared words counted (simt/counting.hpp).
//
// Each call runs with a counting thread of its own and adds what it counted to sums in device memory. The sums see the
// allocator as it is scheduled with that overhead; nothing here is to be timed.
#pragma once

#include "allocators/contract/allocator.hpp"
#include "allocators/contract/session.hpp"
#include "simt/counting.hpp"

namespace allocbench {

// In device memory, zero at first.
struct CallCounts {
  std::uint64_t calls = 0;
  simt::OperationCounts operations;

  template <class Thread>
  SIMT_FN void add(Thread& thread, const simt::OperationCounts& counted) {
    add(thread, calls, 1);
    add(thread, operations.loads, counted.loads);
    add(thread, operations.stores, counted.stores);
    add(thread, operations.updates, counted.updates);
    add(thread, operations.compare_exchanges, counted.compare_exchanges);
    add(thread, operations.lost_exchanges, counted.lost_exchanges);
    for (std::uint32_t step = 0; step < static_cast<std::uint32_t>(simt::Step::count_of_steps); ++step) {
      add(thread, operations.steps[step], counted.steps[step]);
    }
  }

 private:
  template <class Thread>
  static SIMT_FN void add(Thread& thread, std::uint64_t& sum, std::uint64_t count) {
    if (count != 0) thread.atomic(sum).fetch_add(count, simt::relaxed);
  }
};

struct OperationLedger {
  CallCounts mallocs;
  CallCounts frees;
};

// The session of a counted allocator; `Inner` is the session of the allocator below, or a reference to that allocator.
template <class Inner>
class CountedSession {
 public:
  SIMT_FN CountedSession(Inner inner, OperationLedger* ledger) : inner_(static_cast<Inner&&>(inner)), ledger_(ledger) {}

  template <class Thread>
  SIMT_NOINLINE_FN void* malloc(Thread& thread, std::size_t bytes) {
    simt::CountingThread<Thread> counting(thread);
    void* const block = inner_.malloc(counting, bytes);
    ledger_->mallocs.add(thread, counting.counts());
    return block;
  }
  template <class Thread>
  SIMT_NOINLINE_FN void free(Thread& thread, void* block) {
    simt::CountingThread<Thread> counting(thread);
    inner_.free(counting, block);
    ledger_->frees.add(thread, counting.counts());
  }
  // What happens here belongs to no call and is not counted.
  template <class Thread>
  SIMT_FN void detach(Thread& thread) {
    allocbench::detach(inner_, thread);
  }
  template <class Thread>
  SIMT_FN void release_all(Thread& thread) {
    allocbench::release_all(inner_, thread);
  }

 private:
  Inner inner_;
  OperationLedger* ledger_;
};

template <class A>
class Counted {
 public:
  static constexpr Traits traits = A::traits;
  using Parameters = typename A::Parameters;

  Counted(const A& inner, OperationLedger* ledger) : inner_(inner), ledger_(ledger) {}

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    return CountedSession<decltype(allocbench::attach(inner_, thread))>(allocbench::attach(inner_, thread), ledger_);
  }

 private:
  A inner_;
  OperationLedger* ledger_;
};

}  // namespace allocbench
