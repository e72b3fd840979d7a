// The kernels of micro tests that hold blocks from kernel to kernel: several of a thread, some by chance, or several
// kernels at once.
#pragma once

#include "workloads/common/random_action_kernels.hpp"
#include "workloads/common/several_kernels.hpp"
#include "workloads/groups/kinds.hpp"
#include "workloads/prefix_sum/kernels.hpp"
#include "workloads/streams/kernels.hpp"

namespace allocbench::groups {

using held = MicroGroup<RandomActionKernels, SeveralKernels, PrefixSumKernels, StreamsKernels>;

}  // namespace allocbench::groups
