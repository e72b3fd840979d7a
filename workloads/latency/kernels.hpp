// These kernels are AllocKernel and FreeKernel (workloads/support/kernels/call_kernels.hpp) behind the adaptor Latency.
// They are only timed; verification passes run the plain kernels.
#pragma once

#include "allocators/support/adaptors/latency.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// If `calls` is false, nothing is allocated and `blocks` gets nulls.
struct AllocLatencyKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, AnySize sizes, void** blocks, bool calls,
                          BlockLatencies::Sum* sum) const {
    const BlockLatencies latencies = BlockLatencies::open(thread);
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) {
      Latency<A> timed(allocator, latencies, calls);
      auto session = timed.attach(thread);
      blocks[caller] = session.malloc(thread, sizes[caller]);
      session.detach(thread);
    }
    latencies.close(thread, sum);
  }
};

struct FreeLatencyKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, void** blocks,
                          BlockLatencies::Sum* sum) const {
    const BlockLatencies latencies = BlockLatencies::open(thread);
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) {
      Latency<A> timed(allocator, latencies, true);
      auto session = timed.attach(thread);
      session.free(thread, blocks[caller]);
      session.release_all(thread);
      session.detach(thread);
    }
    latencies.close(thread, sum);
  }
};

using LatencyKernels =
    KernelList<BareKernelOn<AllocLatencyKernel, Geometry, AnySize, void**, bool, BlockLatencies::Sum*>,
               BareKernelOn<FreeLatencyKernel, Geometry, void**, BlockLatencies::Sum*>>;

}  // namespace allocbench
