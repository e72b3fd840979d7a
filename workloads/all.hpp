// Every workload of the suite; a new one is a header and a line here.
#pragma once

#include "workloads/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_dealloc.hpp"
#include "workloads/alloc_free.hpp"
#include "workloads/get_page.hpp"
#include "workloads/probability.hpp"

namespace allocbench {

template <class... Workloads>
struct WorkloadList {};

using AllWorkloads = WorkloadList<AllocFree, AllocDealloc, AllocCycleDealloc, Probability, GetPage>;

}  // namespace allocbench
