// This file has the kernel of kd_tree.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "workloads/kd_tree/warp_builder.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench {

struct KdTreeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, kd_tree::BuildSetup setup) const {
    auto&& session = attach(allocator, thread);
    kd_tree::WarpBuilder builder(thread, session, setup);
    builder.run();
    release_all(session, thread);
    detach(session, thread);
  }
};

using KdTreeKernels = KernelList<BareKernelOn<KdTreeKernel, kd_tree::BuildSetup>>;

}  // namespace allocbench
