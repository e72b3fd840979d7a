// These kernels are variants of AllocKernel and FreeKernel (workloads/support/kernels/call_kernels.hpp) that also
// measure the cycles of each call.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

struct AllocCyclesKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, void** blocks,
                          std::uint32_t* cycles) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    const std::uint64_t begin = thread.clock();
    void* const block = session.malloc(thread, size[caller]);
    cycles[caller] = static_cast<std::uint32_t>(thread.clock() - begin);
    blocks[caller] = block;
    detach(session, thread);
  }
};

struct FreeCyclesKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, void** blocks, std::uint32_t* cycles) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void* const block = blocks[caller];
    const std::uint64_t begin = thread.clock();
    session.free(thread, block);
    cycles[caller] = static_cast<std::uint32_t>(thread.clock() - begin);
    detach(session, thread);
  }
};

using GetPageKernels = KernelList<KernelOn<AllocCyclesKernel, Geometry, FixedSize, void**, std::uint32_t*>,
                                  KernelOn<FreeCyclesKernel, Geometry, void**, std::uint32_t*>>;

}  // namespace allocbench
