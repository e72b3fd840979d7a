// This file has the kernel of pairs. The workload scenario uses the kernel, too.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// Sizes and results lie in rows of callers, one row per iteration, so a warp's accesses coalesce. Designs that free in
// bulk keep all blocks of a caller until its last iteration.
struct PairsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, AnySize sizes, std::uint32_t iterations,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    const std::uint32_t end = iterations * geometry.callers;
    for (std::uint32_t slot = caller; slot < end; slot += geometry.callers) {
      void* const block = session.malloc(thread, sizes[slot]);
      blocks[slot] = block;
      session.free(thread, block);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

using PairsKernels = KernelList<KernelOn<PairsKernel, Geometry, AnySize, std::uint32_t, void**>>;

}  // namespace allocbench
