// This file has the kernels of hash_join that call the allocator, and the lists of pages that the kernels write.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "containers/page_writer.hpp"
#include "containers/warp_page_writer.hpp"
#include "workloads/hash_join/probe.hpp"
#include "workloads/hash_join/tables.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/kernels/page_faults.hpp"

namespace allocbench {

using PairChain = PageChain<std::uint64_t>;  // records are join_pair()s

// The chains of pages, one per thread of the join or one per warp.
struct PairLists {
  std::uint64_t* newest;  // address of the newest page of each chain
  std::uint64_t* counts;  // pairs in each chain
  std::uint32_t lists;
  std::uint32_t threads_per_list;

  static constexpr std::uint32_t no_list = 0xffffffffu;
  // Returns the list that the thread writes and frees, or no_list.
  template <class Thread>
  SIMT_FN std::uint32_t own(Thread& thread) const {
    if (threads_per_list == 1) return thread.rank_in_grid();
    return thread.lane() == 0 ? thread.rank_in_grid() / simt::warp_size : no_list;
  }
};

namespace join {

// Counts a request that returned null, and the `lost` pairs that got no page.
template <class Thread>
SIMT_FN void report_lost(Thread& thread, bool null, std::uint64_t lost, PageFaults* faults) {
  if (null) thread.atomic(faults->nulls).fetch_add(std::uint64_t{1}, simt::relaxed);
  if (lost != 0) thread.atomic(faults->lost).fetch_add(lost, simt::relaxed);
}

}  // namespace join

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
    join::report_lost(thread, writer.out_of_memory(), lost, faults);
    detach(session, thread);
  }
};

// This kernel joins with a list per warp. It is separate, so that the published form needs no additional registers.
struct WarpBuildProbeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, JoinShape shape, PartitionedTable r, PartitionedTable s,
                          std::uint64_t page_bytes, PairLists lists, PageFaults* faults) const {
    auto&& session = attach(allocator, thread);
    WarpPageWriter<std::uint64_t> writer(page_bytes);
    std::uint64_t lost = 0;
    join::join_block_by_warps(thread, shape, r, s, [&](bool has, std::uint32_t r_row, std::uint32_t s_row) {
      if (!writer.append(thread, session, has, join_pair(r_row, s_row))) ++lost;
    });
    writer.close(thread);
    const std::uint32_t list = lists.own(thread);
    if (list != PairLists::no_list) {
      lists.newest[list] = writer.newest_page();
      lists.counts[list] = writer.records();
    }
    join::report_lost(thread, list != PairLists::no_list && writer.out_of_memory(), lost, faults);
    detach(session, thread);
  }
};

// Frees the pages of all lists. The grid is that of the join, so every thread finds its session.
struct FreePairListsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, PairLists lists) const {
    const std::uint32_t list = lists.own(thread);
    auto&& session = attach(allocator, thread);
    if (list != PairLists::no_list) {
      PairChain::for_each_page(lists.newest[list], lists.counts[list], [&](std::uint64_t page, std::uint32_t) {
        session.free(thread, reinterpret_cast<void*>(page));
      });
    }
    detach(session, thread);
  }
};

using HashJoinKernels = KernelList<BareKernelOn<BuildProbeKernel, JoinShape, PartitionedTable, PartitionedTable,
                                                std::uint64_t, PairLists, PageFaults*>,
                                   BareKernelOn<WarpBuildProbeKernel, JoinShape, PartitionedTable, PartitionedTable,
                                                std::uint64_t, PairLists, PageFaults*>,
                                   BareKernelOn<FreePairListsKernel, PairLists>>;

}  // namespace allocbench
