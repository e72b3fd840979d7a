// CountingThread is the calling thread with counts of its operations on atomic words and of the steps that allocators
// name. With a deadline, the thread checks the deadline at every 64th operation and exits if it is over. This also ends
// loops that wait for a change of an atomic word.
//
// The class derives from the thread that it wraps and redefines atomic(), atomic_shared(), probe() and note(). Each
// object counts for its own thread, and its creator adds up the counts. Accesses without atomic() or atomic_shared()
// are not counted.
#pragma once

#include "simt/operation_counts.hpp"
#include "simt/simt.hpp"

namespace simt {

// OperationMeter counts operations and checks the deadline before every 64th of them.
template <class Base>
class OperationMeter {
 public:
  SIMT_FN explicit OperationMeter(const DeadlineView& deadline) : deadline_(deadline) {}

  // CountingRef calls this function before each operation, and increments one of the returned counts.
  SIMT_FN OperationCounts& next() {
    if (++since_look_ == operations_per_look) {
      since_look_ = 0;
      exit_if_late();
    }
    return counts_;
  }
  SIMT_FN void exit_if_late() const {
    if (deadline_.over()) Base::exit();
  }
  SIMT_FN OperationCounts& counts() { return counts_; }
  SIMT_FN const OperationCounts& counts() const { return counts_; }

 private:
  static constexpr std::uint32_t operations_per_look = 64;

  OperationCounts counts_;
  DeadlineView deadline_;
  std::uint32_t since_look_ = 0;
};

// CountingRef wraps an atomic_ref of either space and back end, and counts each operation.
template <class Reference, class Meter>
class CountingRef {
 public:
  using value_type = typename Reference::value_type;
  using T = value_type;

  SIMT_FN CountingRef(Reference reference, Meter& meter) : reference_(reference), meter_(&meter) {}

  template <class Order>
  SIMT_FN T load(Order order) const {
    ++meter_->next().loads;
    return reference_.load(order);
  }
  template <class Order>
  SIMT_FN void store(T value, Order order) const {
    ++meter_->next().stores;
    reference_.store(value, order);
  }
  template <class Order>
  SIMT_FN T exchange(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.exchange(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_add(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_add(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_sub(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_sub(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_or(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_or(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_and(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_and(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_xor(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_xor(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_min(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_min(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_max(T value, Order order) const {
    ++meter_->next().updates;
    return reference_.fetch_max(value, order);
  }
  template <class Success, class Failure>
  SIMT_FN bool compare_exchange(T& expected, T desired, Success success, Failure failure) const {
    ++meter_->next().compare_exchanges;
    const bool won = reference_.compare_exchange(expected, desired, success, failure);
    meter_->counts().lost_exchanges += won ? 0 : 1;
    return won;
  }

 private:
  Reference reference_;
  Meter* meter_;
};

// On the CPU executor the last argument of an operation is its call site, which callers never pass
// (simt/cpu/thread.hpp).
#if SIMT_CUDA
#define SIMT_SITE_PARAMETER
#define SIMT_SITE_ARGUMENT
#else
#define SIMT_SITE_PARAMETER , CallSite site = CallSite::here()
#define SIMT_SITE_ARGUMENT , site
#endif

template <class Base>
class CountingThread : public Base {
 public:
  SIMT_FN explicit CountingThread(const Base& thread, const DeadlineView& deadline = {})
      : Base(thread), meter_(deadline) {}

  template <class T>
  SIMT_FN auto atomic(T& word SIMT_SITE_PARAMETER) {
    return counting(Base::atomic(word SIMT_SITE_ARGUMENT));
  }
  template <class T>
  SIMT_FN auto atomic_shared(T& word SIMT_SITE_PARAMETER) {
    return counting(Base::atomic_shared(word SIMT_SITE_ARGUMENT));
  }
  SIMT_FN void probe(Step step) {
    ++meter_.counts().steps[static_cast<std::uint32_t>(step)];
    Base::probe(step);
  }
  SIMT_FN void note(Note what, std::uint32_t value) {
    if (what == Note::ticket) ticket_ = value;
    if (what == Note::pages_seen) pages_seen_ = value;
    Base::note(what, value);
  }

  SIMT_FN const OperationCounts& counts() const { return meter_.counts(); }
  SIMT_FN void exit_if_late() const { meter_.exit_if_late(); }
  // Returns the last noted ticket, or `nothing_noted`. pages_seen() returns the last noted number of free pages, or
  // `nothing_noted`.
  SIMT_FN std::uint32_t ticket() const { return ticket_; }
  SIMT_FN std::uint32_t pages_seen() const { return pages_seen_; }

 private:
  template <class Reference>
  SIMT_FN CountingRef<Reference, OperationMeter<Base>> counting(Reference reference) {
    return {reference, meter_};
  }

  OperationMeter<Base> meter_;
  std::uint32_t ticket_ = nothing_noted;
  std::uint32_t pages_seen_ = nothing_noted;
};

#undef SIMT_SITE_PARAMETER
#undef SIMT_SITE_ARGUMENT

}  // namespace simt
