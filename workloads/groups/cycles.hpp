// The kernels of micro tests whose threads allocate and free in turn.
#pragma once

#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/get_page/kernels.hpp"
#include "workloads/groups/kinds.hpp"
#include "workloads/pairs/kernels.hpp"

namespace allocbench::groups {

using cycles = MicroGroup<AllocDeallocKernels, AllocCycleDeallocKernels, GetPageKernels, PairsKernels>;

}  // namespace allocbench::groups
