// The kernels of hash_join and kd_tree.
#pragma once

#include "workloads/groups/kinds.hpp"
#include "workloads/hash_join/kernels.hpp"
#include "workloads/kd_tree/kernels.hpp"

namespace allocbench::groups {

using join_and_tree = ApplicationGroup<HashJoinKernels, KdTreeKernels>;

}  // namespace allocbench::groups
