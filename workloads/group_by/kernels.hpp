// This file has the kernels of group_by that call the allocator. They split every list of a pass into up to 256 lists
// by one byte of the key, or free pages.
//
// Paper: Pham et al. 2025, sec. 6.2 and appendix C.
//
// There are two ways to split lists of more than 32 records, tails and runs, and one for short lists.
#pragma once

#include "workloads/group_by/runs_kernel.hpp"
#include "workloads/group_by/short_kernel.hpp"
#include "workloads/group_by/tails_kernels.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench::group {

// Frees the pages of all lists that a pass has split, or of the lists of the last pass.
struct FreeListsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Lists lists, std::uint32_t shorts, std::uint32_t mediums,
                          std::uint32_t entries) const {
    auto&& session = attach(allocator, thread);
    const auto free = [&](std::uint64_t page, std::uint32_t) { session.free(thread, reinterpret_cast<void*>(page)); };
    for (std::uint32_t i = thread.rank_in_grid(); i < shorts + mediums; i += thread.grid_size()) {
      const List list = i < shorts ? lists.shorts[i] : lists.mediums[i - shorts];
      Chain::for_each_page(list.newest, list.records, free);
    }
    for (std::uint32_t i = thread.rank_in_grid(); i < entries; i += thread.grid_size()) {
      if (lists.long_of_tail[lists.directory.tails[i]] != no_list) free(lists.directory.pages[i], 0);
    }
    detach(session, thread);
  }
};

using GroupByKernels = KernelList<
    BareKernelOn<LongTailsKernel, LongInput, TailTables, PageFormat, bool, Directory, PageFaults*>,
    BareKernelOn<MediumTailsKernel, const List*, std::uint32_t, std::uint32_t, PageFormat, bool, Lists, PageFaults*>,
    BareKernelOn<RunsKernel, RunsInput, TailTables, std::uint32_t, PageFormat, bool, Lists, PageFaults*>,
    BareKernelOn<ShortKernel, const List*, std::uint32_t, std::uint32_t, PageFormat, bool, Lists, PageFaults*>,
    BareKernelOn<FreeListsKernel, Lists, std::uint32_t, std::uint32_t, std::uint32_t>>;

}  // namespace allocbench::group
