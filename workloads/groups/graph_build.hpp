// The kernels of graph_build.
#pragma once

#include "workloads/graph/build_kernels.hpp"
#include "workloads/groups/kinds.hpp"

namespace allocbench::groups {

using graph_build = ApplicationGroup<GraphBuildKernels>;

}  // namespace allocbench::groups
