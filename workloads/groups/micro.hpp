// The kernels of the micro tests, which every plug-in compiles in its first part.
#pragma once

#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/array_list/kernels.hpp"
#include "workloads/common/call_kernels.hpp"
#include "workloads/common/occupancy_kernels.hpp"
#include "workloads/common/random_action_kernels.hpp"
#include "workloads/common/several_kernels.hpp"
#include "workloads/get_page/kernels.hpp"
#include "workloads/latency/kernels.hpp"
#include "workloads/pairs/kernels.hpp"
#include "workloads/prefix_sum/kernels.hpp"
#include "workloads/verification/script_kernel.hpp"

namespace allocbench {

using MicroKernels = JoinedKernels<CallKernels, AllocDeallocKernels, AllocCycleDeallocKernels, RandomActionKernels,
                                   SeveralKernels, PairsKernels, ArrayListKernels, OccupancyKernels, GetPageKernels,
                                   PrefixSumKernels, ScriptKernels, LatencyKernels>;

}  // namespace allocbench
