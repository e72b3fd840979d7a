// This file has the kernel of streams.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// Each caller follows the role of its kernel: it frees a block that an earlier kernel made for it, allocates a block,
// or does both in this order. It waits for no other thread.
struct RoleKernel {
  bool frees = false;
  bool allocates = false;

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, void** earlier,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    if (frees) session.free(thread, earlier[caller]);
    if (allocates) blocks[caller] = session.malloc(thread, size[caller]);
    detach(session, thread);
  }
};

using StreamsKernels = KernelList<KernelOn<RoleKernel, Geometry, FixedSize, void**, void**>>;

}  // namespace allocbench
