// These kernels fill a pool by mallocs of the allocator, and free a part of the blocks again.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/random/page_set.hpp"

namespace allocbench {

// Makes one request per thread, until `enough_refusals` requests were refused. Further requests would search a full
// pool, and in some designs such a search takes longer the fuller the pool is.
struct OccupyKernel {
  static constexpr std::uint32_t enough_refusals = 1024;

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, void** blocks, std::uint32_t count,
                          std::uint32_t* refusals) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    const auto refused = thread.atomic(*refusals);
    const auto group = thread.converged();  // all lanes make the same decision, because some designs need whole warps
    const std::uint32_t before = group.broadcast(group.leader() ? refused.load(simt::relaxed) : 0);
    blocks[i] = nullptr;
    if (before >= enough_refusals) return;
    auto&& session = attach(allocator, thread);
    void* const block = session.malloc(thread, bytes);
    detach(session, thread);
    blocks[i] = block;
    if (block == nullptr) refused.fetch_add(1u, simt::relaxed);
  }
};
// Frees the blocks for which used(i) is `wanted`.
struct VacateKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t count, PageSet used,
                          bool wanted) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count || used(i) != wanted) return;
    auto&& session = attach(allocator, thread);
    session.free(thread, blocks[i]);
    detach(session, thread);
    blocks[i] = nullptr;
  }
};

using OccupancyKernels = KernelList<UntimedKernelOn<OccupyKernel, std::uint64_t, void**, std::uint32_t, std::uint32_t*>,
                                    UntimedKernelOn<VacateKernel, void**, std::uint32_t, PageSet, bool>>;

}  // namespace allocbench
