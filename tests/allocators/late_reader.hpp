// LateReader is a thread whose loads of one word return an old value, as they may on a GPU. By default, loads of the
// CPU executor return the current value.
#pragma once

#include <utility>

#include "simt/simt.hpp"

namespace allocbench::testing {

// The thread reads the old value until it changes the word or has loaded it `most` times. After that it reads the
// current value.
template <class Thread, class Word>
class LateReader {
 public:
  LateReader(Thread& thread, Word& word, Word old, std::uint32_t most = ~0u)
      : thread_(thread), late_(&word), old_(old), most_(most) {}

  template <class Other>
  class Ref {
   public:
    Ref(LateReader& reader, Other& word)
        : reader_(reader), is_late_(static_cast<void*>(&word) == reader.late_), real_(reader.thread_.atomic(word)) {}

    template <class Order>
    Other load(Order order) const {
      return is_late_ && reader_.is_late() ? static_cast<Other>(reader_.old_) : real_.load(order);
    }
    template <class Order>
    void store(Other value, Order order) const {
      see();
      real_.store(value, order);
    }
    template <class Order>
    Other fetch_add(Other value, Order order) const {
      see();
      return real_.fetch_add(value, order);
    }
    template <class Order>
    Other fetch_sub(Other value, Order order) const {
      see();
      return real_.fetch_sub(value, order);
    }
    template <class Order>
    Other fetch_or(Other bits, Order order) const {
      see();
      return real_.fetch_or(bits, order);
    }
    template <class Order>
    Other fetch_and(Other bits, Order order) const {
      see();
      return real_.fetch_and(bits, order);
    }
    template <class Success, class Failure>
    bool compare_exchange(Other& expected, Other desired, Success success, Failure failure) const {
      see();
      return real_.compare_exchange(expected, desired, success, failure);
    }

   private:
    void see() const {
      if (is_late_) reader_.most_ = 0;
    }

    LateReader& reader_;
    bool is_late_;
    decltype(std::declval<Thread&>().atomic(std::declval<Other&>())) real_;
  };

  template <class Other>
  Ref<Other> atomic(Other& word) {
    return {*this, word};
  }
  void probe(simt::Step) {}
  void spin_hint() { thread_.spin_hint(); }

 private:
  bool is_late() {
    if (most_ == 0) return false;
    --most_;
    return true;
  }

  Thread& thread_;
  void* late_;
  Word old_;
  std::uint32_t most_;
};

}  // namespace allocbench::testing
