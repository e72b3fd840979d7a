// This file has the kernel of replay: each thread makes its calls of the trace, one after the other.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/replay/replay_plan.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench::replay {

// `begin` points to the launch's first entry in Plan::begin. If a malloc returns null, the null is stored in the place
// of the block. The free of such a block is counted and not executed.
struct ReplayKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const std::uint32_t* begin, const Step* steps, void** blocks,
                          std::uint32_t* skipped) const {
    const std::uint32_t rank = thread.rank_in_grid();
    std::uint32_t next = begin[rank];
    const std::uint32_t end = begin[rank + 1];
    if (next == end) return;
    auto&& session = attach(allocator, thread);
    for (; next != end; ++next) {
      const Step step = steps[next];
      if (step.is_free == 0) {
        blocks[step.block] = session.malloc(thread, step.bytes);
        continue;
      }
      void* const block = step.block == no_block ? nullptr : blocks[step.block];
      if (block == nullptr && step.block != no_block) {
        thread.atomic(*skipped).fetch_add(1u, simt::relaxed);
      } else {
        session.free(thread, block);
      }
    }
    detach(session, thread);
  }
};

using ReplayKernels = KernelList<KernelOn<ReplayKernel, const std::uint32_t*, const Step*, void**, std::uint32_t*>>;

}  // namespace allocbench::replay
