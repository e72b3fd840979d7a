// This file declares groups of kernels. Each unit of a plug-in compiles some groups. workloads/CMakeLists.txt lists the
// kernels of each group, and cmake/AllocbenchAllocators.cmake lists the groups of each unit. The division into groups
// follows build costs: after an edit of one kernel, its whole group is compiled again.
#pragma once

#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench {

// Some kernels are not compiled, to save build time. Allocators that are broken on purpose run only in alloc_free, and
// ablations do not run in applications.
template <class... Lists>
struct MicroGroup {
  using Kernels = JoinedKernels<Lists...>;
  using OfAblations = Kernels;
  using OfTestOnly = KernelList<>;
};

template <class... Lists>
struct ApplicationGroup {
  using Kernels = JoinedKernels<Lists...>;
  using OfAblations = KernelList<>;
  using OfTestOnly = KernelList<>;
};

}  // namespace allocbench
