// An atomic_ref on the CPU executor is a std::atomic_ref with a scheduling point before each access.
//
// The executor learns which accesses do not change the word (a load, a failed compare-exchange, a fetch-or of bits that
// are already set). A lane that only repeats such accesses is probably spinning. A store always counts as a change,
// even if the value stays the same. On a CPU, device scope and block scope are the same.
#pragma once

#include <atomic>
#include <type_traits>

#include "simt/common.hpp"
#include "simt/cpu/lane.hpp"

namespace simt {
namespace detail {

constexpr std::memory_order std_order(Relaxed) { return std::memory_order_relaxed; }
constexpr std::memory_order std_order(Acquire) { return std::memory_order_acquire; }
constexpr std::memory_order std_order(Release) { return std::memory_order_release; }
constexpr std::memory_order std_order(AcqRel) { return std::memory_order_acq_rel; }

template <class Order>
inline constexpr bool acquires = std::is_same_v<Order, Acquire> || std::is_same_v<Order, AcqRel>;
template <class Order>
inline constexpr bool releases = std::is_same_v<Order, Release> || std::is_same_v<Order, AcqRel>;

}  // namespace detail

// atomic_ref is a reference to a word that several threads use. Obtain it from the thread (`thread.atomic(word)`).
template <class T, Space space = Space::global>
class atomic_ref {
  static_assert(std::is_unsigned_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "atomic words are 32 or 64 bits, unsigned");
  static_assert(std::atomic_ref<T>::is_always_lock_free);

 public:
  using value_type = T;

  atomic_ref(Lane& lane, T& word, CallSite site) : lane_(&lane), word_(&word), site_(site) {}

  template <class Order>
  T load(Order order) const {
    static_assert(std::is_same_v<Order, Relaxed> || std::is_same_v<Order, Acquire>, "a load is relaxed or acquire");
    lane_->before_access(site_, word_);
    if (may_hold_stores()) [[unlikely]] {
      std::uint64_t own = 0;
      if (lane_->sees_own_store(word_, sizeof(T), own)) return observed(static_cast<T>(own));
    }
    const T found = std::atomic_ref<T>(*word_).load(detail::std_order(order));
    if (may_read_old()) [[unlikely]]
      return observed(static_cast<T>(lane_->read_old(word_, found, sizeof(T), detail::acquires<Order>)));
    return observed(found);
  }
  template <class Order>
  void store(T value, Order order) const {
    static_assert(std::is_same_v<Order, Relaxed> || std::is_same_v<Order, Release>, "a store is relaxed or release");
    lane_->before_access(site_, word_);
    if (accesses_can_be_late && lane_->tracker->holds_stores) [[unlikely]] {
      if (lane_->hold_back(word_, value, sizeof(T), std::is_same_v<Order, Release>)) return;
    }
    if (may_read_old()) [[unlikely]] {
      const T before = std::atomic_ref<T>(*word_).load(std::memory_order_relaxed);
      lane_->write_over(word_, before, value, sizeof(T),
                        {.acquires = false, .releases = detail::releases<Order>, .updates = false});
    }
    std::atomic_ref<T>(*word_).store(value, detail::std_order(order));
    lane_->changed(word_, value, value, sizeof(T));
  }
  template <class Order>
  T exchange(T value, Order order) const {
    before_update(order);
    return reported(std::atomic_ref<T>(*word_).exchange(value, detail::std_order(order)), value, order);
  }
  template <class Order>
  T fetch_add(T value, Order order) const {
    before_update(order);
    const T found = std::atomic_ref<T>(*word_).fetch_add(value, detail::std_order(order));
    return reported(found, static_cast<T>(found + value), order);
  }
  template <class Order>
  T fetch_sub(T value, Order order) const {
    return fetch_add(static_cast<T>(T{0} - value), order);
  }
  template <class Order>
  T fetch_or(T value, Order order) const {
    before_update(order);
    const T found = std::atomic_ref<T>(*word_).fetch_or(value, detail::std_order(order));
    return reported(found, found | value, order);
  }
  template <class Order>
  T fetch_and(T value, Order order) const {
    before_update(order);
    const T found = std::atomic_ref<T>(*word_).fetch_and(value, detail::std_order(order));
    return reported(found, found & value, order);
  }
  template <class Order>
  T fetch_xor(T value, Order order) const {
    before_update(order);
    const T found = std::atomic_ref<T>(*word_).fetch_xor(value, detail::std_order(order));
    return reported(found, found ^ value, order);
  }
  template <class Order>
  T fetch_min(T value, Order order) const {
    return fetch_replace([value](T found) { return found < value ? found : value; }, order);
  }
  template <class Order>
  T fetch_max(T value, Order order) const {
    return fetch_replace([value](T found) { return found < value ? value : found; }, order);
  }
  // Returns true if `desired` was written. Otherwise `expected` receives the present value.
  template <class Success, class Failure>
  bool compare_exchange(T& expected, T desired, Success success, Failure failure) const {
    static_assert(std::is_same_v<Failure, Relaxed> || std::is_same_v<Failure, Acquire>,
                  "a failed exchange is a load: relaxed or acquire");
    before_update(success);
    const bool won = std::atomic_ref<T>(*word_).compare_exchange_strong(expected, desired, detail::std_order(success),
                                                                        detail::std_order(failure));
    if (won) {
      reported(expected, desired, success);
    } else {
      if (may_read_old()) [[unlikely]]
        lane_->read_newest(word_, expected, sizeof(T), detail::acquires<Failure>);
      observed(expected);
    }
    return won;
  }

 private:
  bool may_read_old() const { return accesses_can_be_late && lane_->tracker->old_values != nullptr; }
  bool may_hold_stores() const { return accesses_can_be_late && !lane_->stores.empty(); }
  template <class Order>
  void before_update(Order) const {
    lane_->before_access(site_, word_);
    if (may_hold_stores()) [[unlikely]] {
      lane_->before_update(word_, sizeof(T), std::is_same_v<Order, Release> || std::is_same_v<Order, AcqRel>);
    }
  }
  T observed(T found) const {
    lane_->observed(word_, found, sizeof(T));
    return found;
  }
  template <class Order>
  T reported(T before, T after, Order) const {
    if (may_read_old()) [[unlikely]] {
      lane_->write_over(word_, before, after, sizeof(T),
                        {.acquires = detail::acquires<Order>, .releases = detail::releases<Order>, .updates = true});
    }
    if (before == after) {
      lane_->observed(word_, before, sizeof(T));
    } else {
      lane_->changed(word_, before, after, sizeof(T));
    }
    return before;
  }

  // C++20 has no atomic minimum or maximum. The scheduler counts the loop as one access, because a GPU needs only one.
  template <class Replace, class Order>
  T fetch_replace(Replace replace, Order order) const {
    before_update(order);
    std::atomic_ref<T> word(*word_);
    T found = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(found, replace(found), detail::std_order(order), std::memory_order_relaxed)) {
    }
    return reported(found, replace(found), order);
  }

  Lane* lane_;
  T* word_;
  CallSite site_;
};

}  // namespace simt
