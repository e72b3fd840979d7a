// This file has the kernel of alloc_cycle_dealloc.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/kernels/confined_kernel.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

struct AllocCycleDeallocKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, std::uint32_t iterations,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void** const end = blocks + std::size_t{iterations} * geometry.callers;
    for (void** slot = blocks + caller; slot < end; slot += geometry.callers)
      *slot = session.malloc(thread, size[caller]);
    for (void** slot = blocks + caller; slot < end; slot += geometry.callers) session.free(thread, *slot);
    release_all(session, thread);
    detach(session, thread);
  }
};

using AllocCycleDeallocKernels =
    KernelList<KernelOn<AllocCycleDeallocKernel, Geometry, FixedSize, std::uint32_t, void**>,
               ConfinedKernelOn<AllocCycleDeallocKernel, Geometry, FixedSize, std::uint32_t, void**>>;

}  // namespace allocbench
