// The kernels of array_list and latency.
#pragma once

#include "workloads/array_list/kernels.hpp"
#include "workloads/groups/kinds.hpp"
#include "workloads/latency/kernels.hpp"

namespace allocbench::groups {

using lists_and_latencies = MicroGroup<ArrayListKernels, LatencyKernels>;

}  // namespace allocbench::groups
