// CountingThread: the calling thread, counting its operations on shared words and the steps that allocators name.
//
// It derives from the thread it wraps and redefines atomic(), atomic_shared(), probe() and note(); everything else is
// the wrapped thread's. Each object counts for its own thread; its creator adds the counts up. Accesses without
// atomic() are not counted.
#pragma once

#include "simt/operation_counts.hpp"
#include "simt/simt.hpp"

namespace simt {

// An atomic_ref of either space and back end that counts before it acts.
template <class Reference>
class CountingRef {
 public:
  using value_type = typename Reference::value_type;
  using T = value_type;

  SIMT_FN CountingRef(Reference reference, OperationCounts& counts) : reference_(reference), counts_(&counts) {}

  template <class Order>
  SIMT_FN T load(Order order) const {
    ++counts_->loads;
    return reference_.load(order);
  }
  template <class Order>
  SIMT_FN void store(T value, Order order) const {
    ++counts_->stores;
    reference_.store(value, order);
  }
  template <class Order>
  SIMT_FN T exchange(T value, Order order) const {
    ++counts_->updates;
    return reference_.exchange(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_add(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_add(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_sub(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_sub(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_or(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_or(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_and(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_and(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_xor(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_xor(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_min(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_min(value, order);
  }
  template <class Order>
  SIMT_FN T fetch_max(T value, Order order) const {
    ++counts_->updates;
    return reference_.fetch_max(value, order);
  }
  template <class Success, class Failure>
  SIMT_FN bool compare_exchange(T& expected, T desired, Success success, Failure failure) const {
    ++counts_->compare_exchanges;
    const bool won = reference_.compare_exchange(expected, desired, success, failure);
    counts_->lost_exchanges += won ? 0 : 1;
    return won;
  }

 private:
  Reference reference_;
  OperationCounts* counts_;
};

// On the CPU executor operations carry their call site, which is never given (simt/cpu/thread.hpp).
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
  SIMT_FN explicit CountingThread(const Base& thread) : Base(thread) {}

  template <class T>
  SIMT_FN auto atomic(T& word SIMT_SITE_PARAMETER) {
    return counting(Base::atomic(word SIMT_SITE_ARGUMENT));
  }
  template <class T>
  SIMT_FN auto atomic_shared(T& word SIMT_SITE_PARAMETER) {
    return counting(Base::atomic_shared(word SIMT_SITE_ARGUMENT));
  }
  SIMT_FN void probe(Step step) {
    ++counts_.steps[static_cast<std::uint32_t>(step)];
    Base::probe(step);
  }
  SIMT_FN void note(Note what, std::uint32_t value) {
    if (what == Note::ticket) ticket_ = value;
    if (what == Note::pages_seen) pages_seen_ = value;
    Base::note(what, value);
  }

  SIMT_FN const OperationCounts& counts() const { return counts_; }
  // The last one noted of each kind, or `nothing_noted`.
  SIMT_FN std::uint32_t ticket() const { return ticket_; }
  SIMT_FN std::uint32_t pages_seen() const { return pages_seen_; }

 private:
  template <class Reference>
  SIMT_FN CountingRef<Reference> counting(Reference reference) {
    return CountingRef<Reference>(reference, counts_);
  }

  OperationCounts counts_;
  std::uint32_t ticket_ = nothing_noted;
  std::uint32_t pages_seen_ = nothing_noted;
};

#undef SIMT_SITE_PARAMETER
#undef SIMT_SITE_ARGUMENT

}  // namespace simt
