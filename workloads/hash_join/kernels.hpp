// The kernels of hash_join that call the allocator, and the lists of pages that they write.
#pragma once

#include "allocators/contract/session.hpp"
#include "containers/page_writer.hpp"
#include "workloads/common/page_faults.hpp"
#include "workloads/contract/kernel_list.hpp"
#include "workloads/hash_join/probe.hpp"
#include "workloads/hash_join/tables.hpp"

namespace allocbench {

using PairChain = PageChain<std::uint64_t>;  // records are join_pair()s

// Chains of pages, one per thread of the join.
struct PairLists {
  std::uint64_t* newest;  // page
  std::uint64_t* counts;  // pairs
  std::uint32_t lists;
};

struct BuildProbeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, JoinShape shape, PartitionedTable r, PartitionedTable s,
                          std::uint64_t page_bytes, PairLists lists, PageFaults* faults) const {
    auto&& session = attach(allocator, thread);
    PageWriter<std::uint64_t> writer(page_bytes);
    std::uint64_t lost = 0;
    join::join_block(thread, shape, r, s, [&](std::uint32_t r_row, std::uint32_t s_row) {
      if (!writer.append(thread, session, join_pair(r_row, s_row))) ++lost;
    });
    writer.close();
    lists.newest[thread.rank_in_grid()] = writer.newest_page();
    lists.counts[thread.rank_in_grid()] = writer.records();
    if (lost != 0) {
      thread.atomic(faults->nulls).fetch_add(std::uint64_t{1}, simt::relaxed);
      thread.atomic(faults->lost).fetch_add(lost, simt::relaxed);
    }
    detach(session, thread);
  }
};

// Same grid as the join, so that every thread finds its session again.
struct FreePairListsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, PairLists lists) const {
    const std::uint32_t list = thread.rank_in_grid();
    auto&& session = attach(allocator, thread);
    PairChain::for_each_page(lists.newest[list], lists.counts[list], [&](std::uint64_t page, std::uint32_t) {
      session.free(thread, reinterpret_cast<void*>(page));
    });
    detach(session, thread);
  }
};

using HashJoinKernels = KernelList<BareKernelOn<BuildProbeKernel, JoinShape, PartitionedTable, PartitionedTable,
                                                std::uint64_t, PairLists, PageFaults*>,
                                   BareKernelOn<FreePairListsKernel, PairLists>>;

}  // namespace allocbench
