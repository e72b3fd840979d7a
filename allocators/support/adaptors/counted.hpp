// Counted<A> is the allocator A with counts of the steps and of the operations on shared words that its calls make
// (simt/counting.hpp).
//
// Each call runs with its own simt::CountingThread and adds its counts to sums in device memory, if there are sums.
// Each counted malloc also writes a record, as long as there is room. If there is a trace ledger, each call also writes
// a record into it. The counts include the effect of this overhead on the schedule; do not time counted calls. After
// the deadline, if there is one, calls do not return, because their threads end.
#pragma once

#include "allocators/support/adaptors/call_record.hpp"
#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/adaptors/trace_ledger.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "simt/counting.hpp"

namespace allocbench {

// CallLedger is the memory that the adaptor writes. The host owns this object and passes it to kernels by value.
struct CallLedger {
  CallSums* sums = nullptr;  // sums over all calls; null if nothing is counted
  MallocRecord* records = nullptr;
  std::uint64_t capacity = 0;  // number of records; later mallocs only appear in the sums
  simt::DeadlineView deadline = {};
  TraceLedger trace = {};

  template <class Thread, class Counting>
  SIMT_FN void add_malloc(Thread& thread, const Counting& counting, StepUnit unit) const {
    if (sums == nullptr) return;
    const simt::OperationCounts& counted = counting.counts();
    const std::uint64_t call = add(thread, sums->mallocs, counted);
    if (call >= capacity) return;
    std::uint64_t steps = 0;
    if (unit == StepUnit::update) steps = counted.read_modify_writes();
    if (unit == StepUnit::probe) steps = counted.steps[static_cast<std::uint32_t>(simt::Step::attempt)];
    records[call] = {.thread = thread.rank_in_grid(),
                     .steps = static_cast<std::uint32_t>(steps),
                     .ticket = counting.ticket(),
                     .lane = static_cast<std::uint16_t>(thread.lane()),
                     .pages_seen = static_cast<std::uint16_t>(counting.pages_seen())};
  }
  template <class Thread, class Counting>
  SIMT_FN void add_free(Thread& thread, const Counting& counting) const {
    if (sums != nullptr) add(thread, sums->frees, counting.counts());
  }

 private:
  // Adds the counts of a call to the sums. Returns the number of earlier calls.
  template <class Thread>
  static SIMT_FN std::uint64_t add(Thread& thread, CallCounts& calls, const simt::OperationCounts& counted) {
    simt::OperationCounts& all = calls.operations;
    add(thread, all.loads, counted.loads);
    add(thread, all.stores, counted.stores);
    add(thread, all.updates, counted.updates);
    add(thread, all.compare_exchanges, counted.compare_exchanges);
    add(thread, all.lost_exchanges, counted.lost_exchanges);
    for (std::uint32_t step = 0; step < static_cast<std::uint32_t>(simt::Step::count_of_steps); ++step) {
      add(thread, all.steps[step], counted.steps[step]);
    }
    return thread.atomic(calls.calls).fetch_add(std::uint64_t{1}, simt::relaxed);
  }
  template <class Thread>
  static SIMT_FN void add(Thread& thread, std::uint64_t& sum, std::uint64_t count) {
    if (count != 0) thread.atomic(sum).fetch_add(count, simt::relaxed);
  }
};

// CountedSession is the session of a counted allocator. Only malloc and free are counted; detach() and release_all()
// are not.
template <class Inner, StepUnit unit>
class CountedSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN CountedSession(Inner inner, const CallLedger& ledger)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), ledger_(ledger) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    simt::CountingThread<Thread> counting(thread, ledger_.deadline);
    counting.exit_if_late();
    void* const block = inner_.malloc(counting, bytes);
    counting.exit_if_late();  // a value from a lane that has exited is not a block
    ledger_.add_malloc(thread, counting, unit);
    if (ledger_.trace.records != nullptr) ledger_.trace.add_malloc(thread, bytes, block);
    return block;
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    simt::CountingThread<Thread> counting(thread, ledger_.deadline);
    counting.exit_if_late();
    if (ledger_.trace.records != nullptr) ledger_.trace.add_free(thread, block);
    inner_.free(counting, block);
    ledger_.add_free(thread, counting);
  }

 private:
  CallLedger ledger_;
};

template <class A>
class Counted {
 public:
  static constexpr Traits traits = A::traits;
  using Parameters = typename A::Parameters;

  Counted(const A& inner, const CallLedger& ledger) : inner_(inner), ledger_(ledger) {}

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    using Inner = decltype(allocbench::attach(inner_, thread));
    return CountedSession<Inner, A::traits.step>(allocbench::attach(inner_, thread), ledger_);
  }

  // Returns the same allocator without counting, for calls that only prepare a measurement.
  Counted uncounted() const { return Counted(inner_, {.deadline = ledger_.deadline, .trace = ledger_.trace}); }
  const A& inner() const { return inner_; }

 private:
  A inner_;
  CallLedger ledger_;
};

}  // namespace allocbench
