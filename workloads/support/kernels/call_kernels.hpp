// Many workloads use these two kernels: one makes a request per caller, and the other one frees the blocks.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// Allocates and stores the pointer, and does nothing else. `Sizes` is FixedSize or SizeArray.
struct AllocKernel {
  template <class Thread, class A, class Sizes>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, Sizes sizes, void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    blocks[caller] = session.malloc(thread, sizes[caller]);
    detach(session, thread);
  }
};

// Every caller frees its block from AllocKernel. Null is passed to free, too, because the contract of free allows it.
struct FreeKernel {
  bool releases = true;  // whether callers hold no other blocks; a design that frees in bulk would free these, too

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    session.free(thread, blocks[caller]);
    if (releases) release_all(session, thread);
    detach(session, thread);
  }
};

using CallKernels =
    KernelList<KernelOn<AllocKernel, Geometry, FixedSize, void**>, KernelOn<AllocKernel, Geometry, SizeArray, void**>,
               KernelOn<FreeKernel, Geometry, void**>, AlignedKernelOn<AllocKernel, Geometry, FixedSize, void**>,
               AlignedKernelOn<AllocKernel, Geometry, SizeArray, void**>,
               AlignedKernelOn<FreeKernel, Geometry, void**>>;

}  // namespace allocbench
