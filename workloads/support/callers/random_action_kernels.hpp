// This file has the kernel of RandomActions (workloads/support/callers/random_actions.hpp).
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/kernels/confined_kernel.hpp"
#include "workloads/support/random/probability_steps.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// `held` has a slot per caller, with its block or null. `results` is the row of this launch for the results of malloc.
// The draw of a caller is a byte of step bits from the host, so the timed kernel has no generator. A free writes a mark
// into the result slot, so the counters are measured and not derived from the draws.
struct ProbabilityKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, const std::uint8_t* steps,
                          void** held, void** results) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    const std::uint32_t step = steps[caller];
    void* const block = held[caller];
    if ((step & (block == nullptr ? step_allocates : step_frees)) == 0) return;
    auto&& session = attach(allocator, thread);
    if (block == nullptr) {
      void* const fresh = session.malloc(thread, size[caller]);
      results[caller] = fresh;
      held[caller] = fresh;
    } else {
      session.free(thread, block);
      release_all(session, thread);  // a caller holds at most one block
      held[caller] = nullptr;
      results[caller] = freed_mark();
    }
    detach(session, thread);
  }

  // Returns the mark in the result slot of a caller that freed. It is odd, so no correct allocator returns it.
  static SIMT_HOST_FN void* freed_mark() { return reinterpret_cast<void*>(std::uintptr_t{1}); }
};

using RandomActionKernels =
    KernelList<KernelOn<ProbabilityKernel, Geometry, FixedSize, const std::uint8_t*, void**, void**>,
               ConfinedKernelOn<ProbabilityKernel, Geometry, FixedSize, const std::uint8_t*, void**, void**>>;

}  // namespace allocbench
