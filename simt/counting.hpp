// CountingThread: the calling thread, counting its operations on shared words and the steps that allocators name.
//
// It derives from the thread it wraps and redefines atomic(), atomic_shared() and probe(); everything else is the
// wrapped thread's. Counts are the thread's own: whoever makes the object adds them up. What a thread does to memory of
// its own, without atomic(), is not seen.
#pragma once

#include "simt/simt.hpp"

namespace simt {

struct OperationCounts {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t updates = 0;  // read-modify-write other than compare-exchange
  std::uint64_t compare_exchanges = 0;
  std::uint64_t lost_exchanges = 0;  // compare-exchanges that found another value
  std::uint64_t steps[static_cast<std::uint32_t>(Step::count_of_steps)] = {};

  SIMT_HOST_FN std::uint64_t operations() const { return loads + stores + updates + compare_exchanges; }
};

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

  SIMT_FN const OperationCounts& counts() const { return counts_; }

 private:
  template <class Reference>
  SIMT_FN CountingRef<Reference> counting(Reference reference) {
    return CountingRef<Reference>(reference, counts_);
  }

  OperationCounts counts_;
};

#undef SIMT_SITE_PARAMETER
#undef SIMT_SITE_ARGUMENT

}  // namespace simt
