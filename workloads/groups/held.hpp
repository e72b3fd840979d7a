// The kernels of micro tests that hold blocks from kernel to kernel: several of a thread, or some by chance.
#pragma once

#include "workloads/groups/kinds.hpp"
#include "workloads/prefix_sum/kernels.hpp"
#include "workloads/support/callers/random_action_kernels.hpp"
#include "workloads/support/kernels/several_kernels.hpp"

namespace allocbench::groups {

using held = MicroGroup<RandomActionKernels, SeveralKernels, PrefixSumKernels>;

}  // namespace allocbench::groups
