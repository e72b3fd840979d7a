// What a workload's sample may want of the allocator it is given, which is the bare one or one that is observed: the
// verification pass hands it in as Checked<Counted<A>>.
#pragma once

#include "allocators/adaptors/checked.hpp"
#include "allocators/adaptors/counted.hpp"

namespace allocbench {

template <class A>
using Observed = Checked<Counted<A>>;

// The allocator itself, for its host side.
template <class A>
const A& bare(const A& allocator) {
  return allocator;
}
template <class A>
const A& bare(const Observed<A>& observed) {
  return observed.inner().inner();
}

// The allocator for calls that prepare a sample and are not part of it. Contents are checked as before.
template <class A>
const A& uncounted(const A& allocator) {
  return allocator;
}
template <class A>
Observed<A> uncounted(const Observed<A>& observed) {
  return {observed.inner().uncounted(), observed.ledger()};
}

}  // namespace allocbench
