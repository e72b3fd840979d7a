// This file has the kernel of alloc_dealloc. The workload kd_tree also reports how many registers the kernel needs.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/kernels/confined_kernel.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

struct AllocDeallocKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void* block = session.malloc(thread, size[caller]);
    blocks[caller] = block;
    session.free(thread, block);
    release_all(session, thread);
    detach(session, thread);
  }
};

using AllocDeallocKernels = KernelList<KernelOn<AllocDeallocKernel, Geometry, FixedSize, void**>,
                                       ConfinedKernelOn<AllocDeallocKernel, Geometry, FixedSize, void**>>;

}  // namespace allocbench
