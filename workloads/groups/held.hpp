// The kernels of micro tests that hold blocks from kernel to kernel: several of a thread, or some by chance.
#pragma once

#include "workloads/common/random_action_kernels.hpp"
#include "workloads/common/several_kernels.hpp"
#include "workloads/groups/kinds.hpp"
#include "workloads/prefix_sum/kernels.hpp"

namespace allocbench::groups {

using held = MicroGroup<RandomActionKernels, SeveralKernels, PrefixSumKernels>;

}  // namespace allocbench::groups
