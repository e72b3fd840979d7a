// The kernels that most workloads share: a call for each thread, calls by a script, and what fills a pool before.
#pragma once

#include "workloads/groups/kinds.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/occupancy/occupancy_kernels.hpp"
#include "workloads/support/verification/script_kernel.hpp"

namespace allocbench::groups {

struct calls : MicroGroup<CallKernels, OccupancyKernels, ScriptKernels> {
  using OfTestOnly = CallKernels;
};

}  // namespace allocbench::groups
