// The kernels of group_by.
#pragma once

#include "workloads/group_by/kernels.hpp"
#include "workloads/groups/kinds.hpp"

namespace allocbench::groups {

using group_by = ApplicationGroup<group::GroupByKernels>;

}  // namespace allocbench::groups
