// How a thread talks to an allocator: through a session.
//
// Allocators with state per thread (CRW), per warp (FDGMalloc) or per tile of 16 or 32 lanes (Slab, Gallatin with its
// static counter) offer `attach(thread)`, which returns a session object with malloc and free. State that outlives the
// kernel lies in arena metadata, where `detach(thread)` stores it. Designs that free in bulk offer
// `release_all(thread)` on the session. For all others the session is the allocator itself and the three functions
// compile to nothing, so workloads are written once.
//
// A session is found again by the place of its thread in the grid: a kernel that continues with the blocks of
// another must have its shape. Every thread that allocated calls release_all() once it holds no live block; where lanes
// share a session, its memory is free when the last of them has.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// The session of the calling thread; bind it with `auto&&`.
template <class A, class Thread>
SIMT_FN decltype(auto) attach(A& allocator, Thread& thread) {
  if constexpr (requires { allocator.attach(thread); }) {
    return allocator.attach(thread);
  } else {
    return (allocator);
  }
}

// Suspends the session at the end of a kernel.
template <class Session, class Thread>
SIMT_FN void detach(Session& session, Thread& thread) {
  if constexpr (requires { session.detach(thread); }) session.detach(thread);
}

// Called where all blocks of the session are dead, after their individual frees.
template <class Session, class Thread>
SIMT_FN void release_all(Session& session, Thread& thread) {
  if constexpr (requires { session.release_all(thread); }) session.release_all(thread);
}

}  // namespace allocbench
