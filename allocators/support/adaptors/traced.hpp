// TracedHandle<A> is the allocator A with a record of each call (trace_ledger.hpp).
#pragma once

#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/adaptors/trace_ledger.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

namespace detail {

template <class Inner, class Thread>
SIMT_FN void* traced_malloc(Inner& inner, Thread& thread, std::size_t bytes, const TraceLedger& ledger) {
  void* const block = inner.malloc(thread, bytes);
  ledger.add_malloc(thread, bytes, block);
  return block;
}

}  // namespace detail

template <class Inner>
class TracedSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN TracedSession(Inner inner, const TraceLedger& ledger)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), ledger_(ledger) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return detail::traced_malloc(inner_, thread, bytes, ledger_);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    ledger_.add_free(thread, block);
    inner_.free(thread, block);
  }

 private:
  TraceLedger ledger_;
};

template <class A>
class TracedHandle : public A {
 public:
  TracedHandle(const A& allocator, const TraceLedger& ledger) : A(allocator), ledger_(ledger) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return detail::traced_malloc(static_cast<A&>(*this), thread, bytes, ledger_);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    ledger_.add_free(thread, block);
    A::free(thread, block);
  }
  template <class Thread>
  SIMT_FN auto attach(Thread& thread) requires requires(A& allocator) {
    allocator.attach(thread);
  }
  { return TracedSession<decltype(A::attach(thread))>(A::attach(thread), ledger_); }

 private:
  TraceLedger ledger_;
};

}  // namespace allocbench
