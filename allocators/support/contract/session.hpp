// A session is the access of a thread to an allocator.
//
// Allocators with state per thread (CRW), per warp (FDGMalloc) or per tile of 16 or 32 lanes (Slab, Gallatin with its
// static counter) offer `attach(thread)`, which returns a session object with malloc and free. State that outlives the
// kernel lies in arena metadata, where `detach(thread)` stores it. Designs that free in bulk offer
// `release_all(thread)` on the session. For all other designs the session is the allocator itself and the three
// functions compile to nothing, so one workload source serves all designs.
//
// A session is identified by the rank of its thread in the grid, so a kernel that continues with the blocks of another
// kernel must have the same shape. Every thread that allocated must call release_all() when it no longer uses its
// blocks. If lanes share a session, its memory is freed after the last of these calls.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// Returns the session of the calling thread. Bind it with `auto&&`.
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

// Ends the use of all blocks of the session. Threads call release_all() after their individual frees.
template <class Session, class Thread>
SIMT_FN void release_all(Session& session, Thread& thread) {
  if constexpr (requires { session.release_all(thread); }) session.release_all(thread);
}

}  // namespace allocbench
