// Every workload of the suite; a new one is a header and a line here.
#pragma once

#include "workloads/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_dealloc.hpp"
#include "workloads/alloc_free.hpp"
#include "workloads/array_list.hpp"
#include "workloads/atomic_latency.hpp"
#include "workloads/fill.hpp"
#include "workloads/fragmentation.hpp"
#include "workloads/get_page.hpp"
#include "workloads/graph_arrays.hpp"
#include "workloads/graph_build.hpp"
#include "workloads/group_by.hpp"
#include "workloads/hash_join.hpp"
#include "workloads/heap_init.hpp"
#include "workloads/host_latency.hpp"
#include "workloads/kd_tree.hpp"
#include "workloads/pairs.hpp"
#include "workloads/prefix_sum.hpp"
#include "workloads/probability.hpp"
#include "workloads/randomized.hpp"
#include "workloads/scenario.hpp"
#include "workloads/two_phase.hpp"

namespace allocbench {

template <class... Workloads>
struct WorkloadList {};

using AllWorkloads = WorkloadList<AllocFree, AllocDealloc, AllocCycleDealloc, Probability, TwoPhase, Randomized, Fill,
                                  Fragmentation, HostLatency, PrefixSum, Pairs, ArrayListGrowth, GraphBuild, HeapInit,
                                  GetPage, Scenario, GraphArrays, AtomicLatency, KdTree, HashJoin, GroupBy>;

}  // namespace allocbench
