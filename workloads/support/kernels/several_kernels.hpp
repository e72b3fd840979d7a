// This file has kernels for callers with several blocks each. One kernel allocates all blocks, one frees them, and one
// does both repeatedly.
//
// Row i of a global array has the pointers to block i of all callers, so a warp's accesses coalesce.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// The calling threads, and the number of their calls.
struct SeveralCalls {
  Geometry geometry;
  std::uint32_t allocations = 1;             // blocks that a caller holds at once
  const std::uint8_t* takes_part = nullptr;  // a flag per caller; null: all take part

  // Returns the caller index of the thread, or no_caller.
  template <class Thread>
  SIMT_FN std::uint32_t caller(Thread& thread) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller || takes_part == nullptr) return caller;
    return takes_part[caller] != 0 ? caller : Geometry::no_caller;
  }
  // Returns the number of slots for one set of blocks of all callers. The first slot of a caller is its index. Its
  // further slots follow at distances of geometry.callers.
  SIMT_HOST_FN std::uint32_t slots() const { return geometry.callers * allocations; }
};

struct AllocSeveralKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, SeveralCalls calls, AnySize sizes, void** blocks) const {
    const std::uint32_t caller = calls.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < calls.slots(); slot += calls.geometry.callers) {
      blocks[slot] = session.malloc(thread, sizes[slot]);
    }
    detach(session, thread);
  }
};

struct FreeSeveralKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, SeveralCalls calls, void** blocks) const {
    const std::uint32_t caller = calls.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < calls.slots(); slot += calls.geometry.callers) {
      session.free(thread, blocks[slot]);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

// Repeats `cycles` times: each caller allocates all its blocks, writes the first `written_words` words (4 bytes each)
// of every block, and frees all blocks. The rows of `blocks` keep the pointers of every cycle.
struct CycleSeveralKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, SeveralCalls calls, AnySize sizes, std::uint32_t cycles,
                          std::uint32_t written_words, void** blocks) const {
    const std::uint32_t caller = calls.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t cycle = 0; cycle < cycles; ++cycle, blocks += calls.slots()) {
      for (std::uint32_t slot = caller; slot < calls.slots(); slot += calls.geometry.callers) {
        void* const block = session.malloc(thread, sizes[slot]);
        blocks[slot] = block;
        if (block == nullptr) continue;
        for (std::uint32_t word = 0; word < written_words; ++word) static_cast<std::uint32_t*>(block)[word] = caller;
      }
      for (std::uint32_t slot = caller; slot < calls.slots(); slot += calls.geometry.callers) {
        session.free(thread, blocks[slot]);
      }
      release_all(session, thread);
    }
    detach(session, thread);
  }
};

using SeveralKernels =
    KernelList<KernelOn<AllocSeveralKernel, SeveralCalls, AnySize, void**>,
               KernelOn<FreeSeveralKernel, SeveralCalls, void**>,
               KernelOn<CycleSeveralKernel, SeveralCalls, AnySize, std::uint32_t, std::uint32_t, void**>>;

}  // namespace allocbench
