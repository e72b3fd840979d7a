// These allocators wait in every call for as many cycles as their parameters say
// (allocators/support/adaptors/delayed.hpp). They wrap AtomicMalloc, which never frees, and Comb, which frees. A
// wrapper differs from its allocator only by the waits, so an application's additional time comes from the waits.
#pragma once

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/comb/comb.hpp"
#include "allocators/support/adaptors/delayed.hpp"

namespace allocbench {

struct DelayedAtomicMalloc : Delayed<AtomicMalloc> {
  static constexpr Traits traits = traits_as("delayed_atomic_malloc", "AtomicMalloc, delayed");
  static DelayedAtomicMalloc create(Arena& arena, const Parameters& parameters) { return {arena, parameters}; }

 private:
  using Delayed::Delayed;
};

struct DelayedComb : Delayed<Comb> {
  static constexpr Traits traits = traits_as("delayed_comb", "Comb, delayed");
  static DelayedComb create(Arena& arena, const Parameters& parameters) { return {arena, parameters}; }

 private:
  using Delayed::Delayed;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(delayed, DelayedAtomicMalloc, DelayedComb)
